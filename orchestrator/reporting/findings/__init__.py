"""Values that a run found."""
