"""Comparison of two releases, from their sides and paired cells to verdicts, searches and watches."""
