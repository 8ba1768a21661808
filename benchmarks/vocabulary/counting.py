"""Shapes, parameters and multiply-adds of a model, counted without any framework."""


def size(shape):
    """Return the number of values in a tensor of this shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def parameters(layers):
    """Count the logical trainable parameters of recorded layers, each once.

    The running values of batch norm are none.
    """
    return sum(size(parameter.shape) for layer in layers for parameter in layer.parameters)


def multiply_adds(layers):
    """Count the multiply-adds of one sample's forward pass, in convolutions and matrix products alone."""
    return sum(_multiply_adds(layer) for layer in layers)


def _multiply_adds(layer):
    sizes = [size(parameter.shape) for parameter in layer.parameters]
    if layer.kind == "conv2d":
        return sizes[0] * size(layer.output_shape[1:])
    if layer.kind == "separable_conv2d":
        return (sizes[0] + sizes[1]) * size(layer.output_shape[1:])
    if layer.kind == "dense":
        # Of a sparse row, only the entries are multiplied.
        features = layer.settings.get("entries", layer.input_shape[-1])
        return size(layer.input_shape[:-1]) * features * layer.settings["units"]
    if layer.kind in ("lstm", "gru", "attention"):
        # Every step multiplies by all matrices, of which a bidirectional LSTM has twice as many, and adds the biases.
        steps = layer.input_shape[0]
        products = steps * sum(size(each.shape) for each in layer.parameters if len(each.shape) == 2)
        # An attention multiplies each step with every step, for its scores and for the sum of values, causal or not.
        return products + (2 * steps * size(layer.input_shape) if layer.kind == "attention" else 0)
    if layer.kind == "time_distributed":
        return layer.output_shape[0] * _multiply_adds(layer.settings["layer"])
    return 0
