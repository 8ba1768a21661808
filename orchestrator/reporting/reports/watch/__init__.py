"""The report on a watch."""
