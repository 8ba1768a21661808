"""Verdicts that are known beforehand: planted, simulated or published."""
