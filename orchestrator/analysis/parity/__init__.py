"""Which cells do the same work, judged from what their parity checks answered."""
