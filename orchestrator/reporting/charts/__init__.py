"""Charts of pages, in percent of their axes."""
