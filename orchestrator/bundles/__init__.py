"""Bundles that carry a matrix to a host without a network, and files that carry its results back."""
