"""Exported networks, made fit to leave the house."""
