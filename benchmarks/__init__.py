"""The code that runs inside the container.

It needs Python 3.6 or newer, the standard library, NumPy and one framework.
"""

MEASUREMENT_VERSION = 3
"""Raised if a change here changes what is measured. The history of results breaks there."""
