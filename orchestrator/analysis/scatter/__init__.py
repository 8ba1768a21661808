"""The scatter of cells, and the repeats that it takes to see through it."""
