"""Reports of runs, tests, searches and nights, and the formats that show them."""
