"""New releases, each measured against the baseline."""
