"""Scripts of a run, with their answers and the copies that are run."""
