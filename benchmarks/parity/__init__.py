"""Checks that a framework computes what the recorded model says."""
