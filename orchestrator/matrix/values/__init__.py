"""Values in a matrix: their kinds, units, names and limits."""
