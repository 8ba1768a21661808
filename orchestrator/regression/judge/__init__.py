"""The judge: from the stored repeats of two sides to a verdict for every metric."""
