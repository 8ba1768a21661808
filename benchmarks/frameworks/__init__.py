"""One module for each framework builder, named as the catalog names it.

A module imports its framework at the top. It offers `OPTIONS` (option name to default), `OFFERS` if it has other
features than the common ones of `benchmarks.vocabulary.features`, `SEVERAL_DEVICES` if it trains on several devices
(`benchmarks.parallel`), and `start(workload)`, which returns a session with:

- `step`: called with one of `batches`, does one training (or inference) step and returns a handle without waiting;
- `batches`: the distinct native batches, already on the device;
- `synchronise(handle)`: waits until everything issued so far is done;
- `fetch(handle)`: waits for an inference step and returns its logits (batch, classes) in the host's memory;
- `loss(handle)`: the mean loss of the batch behind a training step's handle, as a float;
- `parameters`: the number of logical trainable weights of the model, as the framework itself counts them; a second
  bias per gate and the running values of batch norm are none;
- `weights()`: the current weights of the native layers in the form of `ModelWorkload.weights()`: name of the vocabulary
  to a float32 array in canonical layout;
- `native_layers()`: (name of the vocabulary, output shape, logical trainable parameters) of every recorded layer that
  has a native one, in recorded order, all read from the native layers; shapes channels first and without the batch;
- `predict(inputs)`: the logits (NumPy) of a NumPy batch with the current weights, in evaluation mode, in a training
  session too and for any batch size; the training step afterwards goes on as if it had not been called;
- `facts()`: `layout`, `precision`, `threads`, `device` and other facts, queried from the framework;
- `product(left, right)`: the product (NumPy, float32) of two float32 matrices on the device, multiplied as the steps
  multiply; only where there is an option `precision` (`benchmarks.precision`);
- `peak_device_bytes()`: highest device memory, or None if the framework does not report it;
- `reset_peak_device_bytes()`: forgets that use and returns True, or returns False; only where the framework can;
- `short_blocks`: True if a step costs nothing, so that a block may be as short as it likes.

A model is a graph. `layer.inputs` holds the positions of the values that a layer takes. Position 0 is the model's
input, and position k is what the k-th layer yields. `graph.places` gives each value a place, and `graph.is_stack` says
whether places are needed at all. `weights()`, `native_layers()` and `predict()` are never called inside a timed block.
`start` raises `Unsupported` if the framework cannot build the model.

A builder that generates also offers `generator(workload)`, whose workload has a `generation`: the tokens of a prompt,
and those after it. It returns a session of inference without `step`, with

- `batches`: the distinct prompts (batch, tokens), already on the device;
- `prefill(prompt)`: begins anew with a prompt, chooses the most likely token after it, and returns a handle without
  waiting;
- `decode(handle)`: chooses the token after that of the step before, and returns a handle, of which only the latest
  counts;
- `tokens(handle)`: waits for the tokens of a step and returns them (batch,) in the host's memory;
- `logits(handle)`: returns the logits (batch, tokens) that they were chosen by in the host's memory.

Keys and values of all steps stay in memory that is made before, or by the first prompt.

`docs/models.md` walks through adding one.
"""
