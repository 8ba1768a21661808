"""The judge, which turns the stored repeats of two sides into a verdict for every metric."""
