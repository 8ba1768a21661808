"""Frameworks and engines: their loops beside loops by hand, their parity, and networks of one's own."""
