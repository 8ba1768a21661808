"""Stored runs as the two sides of a comparison."""
