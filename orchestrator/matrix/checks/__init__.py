"""Checks of a matrix beyond its shape."""
