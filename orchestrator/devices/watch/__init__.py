"""The watch over a cell's GPUs while it is measured, asked of their driver on the host."""
