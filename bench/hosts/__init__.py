"""Cells at once, on the GPUs of one host and on the nodes of a cluster."""
