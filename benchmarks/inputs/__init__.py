"""The data that models are fed with."""
