"""Models of convolutions whose blocks add their input to their output."""
