"""The report of several runs side by side."""
