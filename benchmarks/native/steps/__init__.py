"""The steps of training and of inference."""
