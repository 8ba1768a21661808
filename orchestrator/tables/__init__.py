"""Stored runs as tidy tables, with one documented schema for Arrow, Parquet and SQLite."""
