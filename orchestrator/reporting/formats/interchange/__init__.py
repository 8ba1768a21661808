"""Formats that other tools read."""
