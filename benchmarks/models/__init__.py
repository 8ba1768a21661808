"""One file for each model, named as in `matrix.yaml`.

A file has one `build(net)`, and literals which the host reads without running it.
"""
