"""Commands on the state of this host."""
