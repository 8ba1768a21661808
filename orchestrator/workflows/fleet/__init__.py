"""The check of a fleet: the same short cells on every node of a cluster, in rounds."""
