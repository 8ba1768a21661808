"""The windows of convolutions and pools over an image, and checks of what a layer is given."""

LEAST = -3.4028235e38
"""The least of float32, which no value is below."""


def is_whole(value, least):
    """Return whether a value is a whole number of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def rate(l2):
    """Return the factor of an L2 term as a float. Raises `ValueError` unless it is a number from 0."""
    if isinstance(l2, bool) or not isinstance(l2, (int, float)) or l2 < 0:
        raise ValueError("l2 is a number from 0, not %r" % (l2,))
    return float(l2)


def explicit(padding):
    """Return the mark of a layer whose model names its pads, which not every framework has."""
    return {} if padding in ("valid", "same") else {"explicit": True}


def windows(kind, x, size, stride, padding):
    """Return the (height, width) of the windows over an image, and its pads (top, bottom, left, right).

    Raises `ValueError` if there is no window, or for another padding.
    """
    if len(x.shape) != 3:
        raise ValueError("%s of size %d cannot take the shape %s" % (kind, size, x.shape))
    if padding in ("valid", "same"):
        pairs = [_same(extent, size, stride) if padding == "same" else (0, 0) for extent in x.shape[1:]]
    elif isinstance(padding, (tuple, list)) and len(padding) == 4 and all(is_whole(each, 0) for each in padding):
        pairs = [tuple(padding[:2]), tuple(padding[2:])]
    else:
        raise ValueError("%s pads 'valid', 'same' or (top, bottom, left, right), not %r" % (kind, padding))
    shape = tuple((extent + sum(pads) - size) // stride + 1 for extent, pads in zip(x.shape[1:], pairs))
    if min(shape) < 1:
        raise ValueError("%s of size %d cannot take the shape %s" % (kind, size, x.shape))
    return shape, pairs[0] + pairs[1]


def _same(extent, kernel, stride):
    """Return the zeros before and after `extent` values, for one output value per stride, begun ones included."""
    total = max(((extent - 1) // stride) * stride + kernel - extent, 0)
    return total // 2, total - total // 2


def is_centred(layer):
    """Return whether a layer's pads put the middle of an odd window on the first value and, in turn, on the last."""
    settings = layer.settings
    window = settings["size"] if layer.kind == "max_pool" else settings["kernel"]
    return window % 2 == 1 and tuple(settings["pads"]) == (window // 2,) * 4


def padded_by_the_least(layer):
    """Return zeros for the (height, width) that a layer takes, and the least of all values for its pads around them."""
    import numpy

    top, bottom, left, right = layer.settings["pads"]
    zeros = numpy.zeros(layer.input_shape[1:], numpy.float32)
    return numpy.pad(zeros, ((top, bottom), (left, right)), mode="constant", constant_values=LEAST)
