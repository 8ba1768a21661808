"""Killed runs and mutated matrices."""
