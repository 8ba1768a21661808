"""Models of convolutions, one after the other."""
