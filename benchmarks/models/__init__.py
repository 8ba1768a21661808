"""One file per model: its name in `matrix.yaml`, one `build(net)`, and literals that the host reads without running it."""
