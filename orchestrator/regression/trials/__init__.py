"""Regression tests: their files, their plans, and how they are measured."""
