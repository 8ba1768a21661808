"""The inputs of a model, with the kind of values that each has."""

from collections import namedtuple

from .windows import is_whole

Input = namedtuple("Input", "name shape kind vocabulary density")
Input.__doc__ = """One input of a model.

    It has a shape without the batch, the kind of its values, for whole numbers the size of their vocabulary, and for
    sparse rows the share of their features that have an entry."""

_TAKERS = {"integer": ("embedding", "whole numbers"), "sparse": ("dense", "sparse rows")}
"""The layer that takes a kind of input, and a name for its values."""


def declared(name, shape, kind, vocabulary, density):
    """Return an input of a model. Raises `ValueError` for one that the vocabulary lacks."""
    if kind not in ("float", "integer", "sparse"):
        raise ValueError("an input's kind is 'float', 'integer' or 'sparse', not %r" % (kind,))
    if (kind == "integer") != is_whole(vocabulary, 1):
        raise ValueError("an input of whole numbers, and no other, has a vocabulary, as in vocabulary=36")
    if (kind == "sparse") != _is_share(density):
        raise ValueError("an input of sparse rows, and no other, has a density above 0 and up to 1, as in density=0.01")
    if kind == "sparse" and len(shape) != 1:
        raise ValueError("an input of sparse rows has flat features, not the shape %s" % (tuple(shape),))
    return Input(name, tuple(shape), kind, vocabulary, density)


def entries(declared_input):
    """Return the number of entries that every row of a sparse input has, which is at least one."""
    return max(1, int(declared_input.density * declared_input.shape[0] + 0.5))


def refuse_other_layers(kind, taken):
    """Raise `ValueError` if a layer of this kind takes an input that only another kind of layer takes."""
    taker, values = _TAKERS.get(taken.kind, (kind, None))
    if kind != taker:
        raise ValueError("%s cannot take %s; put net.%s before it" % (kind, values, taker))


def _is_share(density):
    return isinstance(density, (int, float)) and not isinstance(density, bool) and 0 < density <= 1
