"""The weights every framework starts from, drawn once in canonical layout from a seed."""

STREAM = 2
"""The random stream of this module, which keeps its draws apart from those of other modules by the same seed."""


def initial(layers, seed):
    """Draw the weights of recorded layers, from parameter name to float32 array in canonical order.

    Weights are Glorot-uniform (Glorot and Bengio 2010). Biases, scales and shifts start at the constants that their
    layer names. The same seed gives the same values in every framework, interpreter and NumPy release, because
    `RandomState` is frozen.
    """
    import numpy

    random = numpy.random.RandomState([seed, STREAM])
    return {parameter.name: _draw(numpy, random, parameter) for layer in layers for parameter in layer.parameters}


def _draw(numpy, random, parameter):
    if parameter.fan_in == 0:
        share = parameter.shape[0] // len(parameter.start)
        return numpy.repeat(numpy.array(parameter.start, numpy.float32), share)
    limit = (6.0 / (parameter.fan_in + parameter.fan_out)) ** 0.5
    return random.uniform(-limit, limit, parameter.shape).astype(numpy.float32)


def channels_last_rows(array, flattened):
    """Permute the rows of a dense weight that follows a channels-last flatten.

    `array` is canonical (channel-first rows). `flattened` is the (channels, height, width) that the flatten took, or
    None.
    """
    if flattened is None or len(flattened) != 3:
        return array
    rows = array.reshape(tuple(flattened) + (array.shape[1],))
    return rows.transpose(1, 2, 0, 3).reshape(array.shape)


def channel_first_rows(array, flattened):
    """Put the rows of a dense weight that follows a channels-last flatten back in canonical order."""
    if flattened is None or len(flattened) != 3:
        return array
    channels, height, width = flattened
    rows = array.reshape(height, width, channels, array.shape[1])
    return rows.transpose(2, 0, 1, 3).reshape(array.shape)


def gru_of(layer):
    """Return the settings of a GRU, or of the one that a layer runs on each row, else None."""
    inner = layer.settings["layer"] if layer.kind == "time_distributed" else layer
    return inner.settings if inner.kind == "gru" else None


def keras_gates(arrays, gru):
    """Turn a GRU's canonical weights into those of Keras: z before r, and with `reset_after` a second bias of zeros.

    Weights of other layers, for which `gru` is None, stay as they are.
    """
    import numpy

    if gru is None:
        return arrays
    arrays = [_swapped(numpy, array) for array in arrays]
    if gru["reset_after"]:
        arrays[2] = numpy.stack([arrays[2], numpy.zeros_like(arrays[2])])
    return arrays


def canonical_gates(arrays, gru):
    """Turn the weights that Keras has for a GRU into canonical ones, and leave those of other layers."""
    import numpy

    if gru is None:
        return arrays
    arrays = list(arrays)
    if gru["reset_after"]:
        arrays[2] = arrays[2][0]
    return [_swapped(numpy, array) for array in arrays]


def spare_bias(layer):
    """Count the values of a GRU's second bias, which Keras trains and the builders keep at zero."""
    gru = gru_of(layer)
    return 3 * gru["units"] if gru and gru["reset_after"] else 0


def _swapped(numpy, array):
    reset, update, new = numpy.split(array, 3, axis=-1)
    return numpy.concatenate([update, reset, new], axis=-1)
