"""A run on more than one host, from a site and a matrix to one report."""
