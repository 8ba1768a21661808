"""Comparison of two releases: sides, paired cells, a judge, and what measures, searches and watches with them."""
