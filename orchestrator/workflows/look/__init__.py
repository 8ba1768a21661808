"""The contents of a results folder, of the catalog and of the program."""
