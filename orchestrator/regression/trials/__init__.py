"""Regression tests, with their files, their plans and their measurement."""
