"""The statistics of samples, with estimates, ratios, verdicts and ranks, and without I/O."""
