"""Models of dense layers alone."""
