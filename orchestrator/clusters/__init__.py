"""A run on more than one host: its site, its parts, and the scheduler that places them."""
