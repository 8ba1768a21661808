"""The ONNX exporters of frameworks, one module for each builder in `benchmarks.frameworks` whose framework has one.

A module imports its exporter at the top. It offers `NAME`, what exports and its release, and `write(session, inputs,
path)`. That writes what computes the logits of a started session of inference to a file, with the batch size of the
session and the named inputs in their order. It returns whether images are channels last there.
"""
