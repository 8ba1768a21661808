"""Package indexes, and the releases that their pages list."""
