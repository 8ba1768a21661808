"""The cost of a plan in time and disk."""
