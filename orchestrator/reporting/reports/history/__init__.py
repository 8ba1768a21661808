"""The report of a history."""
