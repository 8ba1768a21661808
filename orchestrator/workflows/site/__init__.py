"""The site over all runs, and all runs as data."""
