"""One file per model: its name in `matrix.yaml`, one `build(net)`, and literals which the host reads unrun."""
