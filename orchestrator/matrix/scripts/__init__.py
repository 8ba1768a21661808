"""Scripts in a matrix: the section, the files that belong to them, and their patterns."""
