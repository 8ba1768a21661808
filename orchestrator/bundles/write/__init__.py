"""The export of a bundle."""
