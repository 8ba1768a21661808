"""One module per framework builder, named as the catalog names it; each imports its framework at the top.

A module offers `OPTIONS` (option name to default), `OFFERS` if it has other features than the common ones of
`benchmarks.vocabulary.features`, and `start(workload)`, which returns a session with:

- `step`: called with one of `batches`, does one training (or inference) step and returns a handle without waiting;
- `batches`: the distinct native batches, placed on the device already;
- `synchronise(handle)`: waits until everything issued so far is done;
- `fetch(handle)`: waits for an inference step and returns its logits (batch, classes) in the host's memory;
- `loss(handle)`: the mean loss of the batch behind a training step's handle, as a float;
- `parameters`: how many logical trainable weights the framework itself says the model has; a second bias per gate and
  the running values of batch norm are none;
- `weights()`: what the native layers hold now, as `ModelWorkload.weights()` gives it: name of the vocabulary to a
  float32 array in canonical layout;
- `native_layers()`: (name of the vocabulary, output shape, logical trainable parameters) of every recorded layer that
  has a native one, in recorded order, all asked of the native layers; shapes channels first and without the batch;
- `predict(inputs)`: the logits (NumPy) of a NumPy batch by the weights held now, in evaluation mode, in a training
  session too and for any batch size; the training step afterwards goes on as if it had not been called;
- `facts()`: `layout`, `precision`, `threads`, `device` and what else is worth knowing, queried from the framework;
- `peak_device_bytes()`: highest device memory, or None where the framework does not tell;
- `short_blocks`: True where a step costs nothing, so that a block may be as short as it likes.

A model is a graph: `layer.inputs` holds the positions of the values that a layer takes, position 0 being the model's
input and position k what the k-th layer yields; `graph.places` says where to keep them, and `graph.is_stack` whether
that is needed at all. `weights()`, `native_layers()` and `predict()` are never called inside a timed block. What a
framework cannot build raises `Unsupported` from `start`.

`docs/models.md` walks through adding one.
"""
