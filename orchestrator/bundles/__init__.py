"""A whole matrix as one bundle that needs no network: written, verified, loaded, and the results carried back."""
