"""The code that runs inside the container: Python 3.6 and newer, the standard library, NumPy and one framework."""

MEASUREMENT_VERSION = 2
"""Raised when a change here changes what is measured; the history of results breaks there."""
