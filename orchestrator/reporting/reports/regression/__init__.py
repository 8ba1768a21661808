"""The report of a regression test."""
