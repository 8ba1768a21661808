"""The way of a matrix and its results across an air gap."""
