"""Bounds of every plan, whatever it was made from."""
