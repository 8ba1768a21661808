"""The report of a search."""
