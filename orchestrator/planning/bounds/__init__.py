"""The bounds of every plan, whatever its source."""
