"""The tensors of weights that layers have."""

from collections import namedtuple

Parameter = namedtuple("Parameter", "name shape fan_in fan_out start")
Parameter.__doc__ = """One logical tensor of weights in canonical layout.

    It is drawn by its fans if fan_in is not 0. Else `start` holds the first values, each for an even share of them."""


def drawn(name, shape, fan_in, fan_out):
    """Return a parameter that is drawn by its fans."""
    return Parameter(name, shape, fan_in, fan_out, ())


def constant(name, count, *start):
    """Return a parameter that starts at constants, each for an even share of it."""
    return Parameter(name, (count,), 0, 0, start)
