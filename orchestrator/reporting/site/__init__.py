"""A static site over all runs of a results folder, from columns of data to its files."""
