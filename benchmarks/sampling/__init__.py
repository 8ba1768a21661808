"""Readings of the process, the host and its GPUs."""
