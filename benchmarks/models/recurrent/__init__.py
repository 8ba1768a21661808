"""Models of recurrent layers, over rows of numbers or of an image."""
