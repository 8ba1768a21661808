"""Values in a matrix, with their kinds, units, names and limits."""
