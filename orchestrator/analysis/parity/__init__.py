"""The judgement of which cells do the same work, from the answers of their parity checks."""
