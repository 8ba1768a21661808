"""Reports of every kind."""
