"""One module per framework builder, named as the catalog names it; each imports its framework at the top.

A module offers `OPTIONS` (option name to default) and `start(workload)`, which returns a session with:

- `step`: called with one of `batches`, does one training (or inference) step and returns a handle without waiting;
- `batches`: the distinct native batches, placed on the device already;
- `synchronise(handle)`: waits until everything issued so far is done;
- `fetch(handle)`: waits for an inference step and returns its logits (batch, classes) in the host's memory;
- `loss(handle)`: the mean loss of the batch behind a training step's handle, as a float;
- `parameters`: how many trainable weights the framework itself says the model has;
- `facts()`: `layout`, `precision`, `threads`, `device` and what else is worth knowing, queried from the framework;
- `peak_device_bytes()`: highest device memory, or None where the framework does not tell;
- `short_blocks`: True where a step costs nothing, so that a block may be as short as it likes.

`docs/models.md` walks through adding one.
"""
