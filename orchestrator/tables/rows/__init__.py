"""The tables, one module for each: its columns, and the sources of its rows."""
