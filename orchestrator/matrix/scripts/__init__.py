"""Scripts in a matrix, with their files and their patterns."""
