"""The verification and loading of a bundle."""
