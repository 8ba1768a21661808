"""The lock by which one run at a time measures on a host."""
