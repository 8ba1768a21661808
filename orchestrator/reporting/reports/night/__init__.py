"""The report of a night."""
