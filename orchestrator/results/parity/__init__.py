"""Parity checks of a run: their files, and answers stored for later runs."""
