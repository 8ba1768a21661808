"""Layers and sessions of Keras 2 and Keras 3, with what each backend needs of its own."""
