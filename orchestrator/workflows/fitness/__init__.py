"""The fitness of a host to measure, and of its GPUs to measure at once."""
