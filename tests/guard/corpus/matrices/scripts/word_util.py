"""Beside it."""
