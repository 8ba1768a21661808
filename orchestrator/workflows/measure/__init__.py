"""A run that is begun or taken up again."""
