"""A search for the release that changed a cell."""
