"""The data loaders of frameworks, one module for each builder that has one.

A module has a class of loaders. A loader is called with `samples` and the number of `workers`, and returns a generator
that yields batches round and round, in tensors of the host. Closing the generator ends the workers. It also has
`lay(inputs)`, which lays out all inputs in NumPy as the framework has them, `native(inputs, labels)`, which makes such
tensors of NumPy arrays, and `place(inputs, labels)`, which makes of them the batch that a session takes.
"""
