"""Scripts of a run: what they answer, and the copies that are run."""
