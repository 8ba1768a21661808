"""The certainty of what a run shows, and what more of it would cost."""
