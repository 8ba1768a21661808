"""The history of cells over many runs, with its lasting changes."""
