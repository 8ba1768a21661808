"""Sections of a matrix for modes that measure something else than models, such as single operators."""
