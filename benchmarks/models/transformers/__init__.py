"""Networks of attention."""
