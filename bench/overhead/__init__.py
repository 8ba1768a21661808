"""The cost of the program itself: its starts, plans, builds, reports, samplers and bundles."""
