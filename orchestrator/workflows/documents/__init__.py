"""The documents of commands that show no report."""
