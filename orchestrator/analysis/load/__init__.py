"""The answers of a cell under load, and the times of tokens."""
