"""Results are files: their contract, how they are written, and how they are read back."""
