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
    if layer.kind == "conv2d":
        weight = layer.parameters[0].shape
        return size(weight) * size(layer.output_shape[1:])
    if layer.kind == "dense":
        return size(layer.parameters[0].shape)
    if layer.kind == "lstm":
        weight, recurrent, _bias = layer.parameters
        return layer.input_shape[0] * (size(weight.shape) + size(recurrent.shape))
    return 0
