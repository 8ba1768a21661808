"""The contents of many runs, cached for listings, histories and estimates."""
