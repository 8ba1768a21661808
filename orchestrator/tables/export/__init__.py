"""All runs of a results folder as Parquet or SQLite, where only what has changed is read again."""
