"""Native layers of transformers."""
