"""The tables of a report beside its groups."""
