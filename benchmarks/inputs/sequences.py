"""Rows of whole numbers, such as the words of a story or the characters of a text, for one model.

A model whose inputs are whole numbers takes them as they are, each of several by its name. A model of one input of
floats, (length, characters), takes them one-hot. `orchestrator/catalog/datasets.py` has as much of this rule as a plan
can follow.
"""

from benchmarks.errors import Unsupported
from benchmarks.inputs import kinds
from benchmarks.inputs.dealt import Dealt


class Sequences(Dealt):
    """A dataset of one row or several for each sample."""

    def __init__(self, name, split, described, inputs, seed):  # noqa: PLR0913, PLR0917 - what there is, and for whom
        """Prepare rows, which a request has `described`, for the `inputs` that a model recorded.

        Raises `Unsupported` if they do not fit.
        """
        # The width of a one-hot value; None for whole numbers as they are.
        self._width = None
        if _are_one_hot(described, inputs):
            self._order_of_rows, self._width = (0,), inputs[0].shape[1]
        elif _fit(described, inputs):
            self._order_of_rows = _positions(described, inputs)
        else:
            have = " and ".join("%(name)s of %(length)d below %(vocabulary)d" % each for each in described)
            raise Unsupported("%s (%s) does not fit a model that takes %s" % (name, have, kinds.described(inputs)))
        super().__init__(name, split, sum(each["length"] for each in described) * (self._width or 1), seed)

    def _taken(self, part, chosen):
        import numpy

        rows = tuple(part[position][chosen].astype(numpy.int32) for position in self._order_of_rows)
        if self._width is not None:
            return numpy.eye(self._width, dtype=numpy.float32)[rows[0]]
        return rows if len(rows) > 1 else rows[0]


def _positions(described, inputs):
    """Return the position in the dataset of each input of the model. One alone goes by any name."""
    names = [each["name"] for each in described]
    return tuple(names.index(each.name) if len(inputs) > 1 and each.name in names else 0 for each in inputs)


def _fit(described, inputs):
    positions = _positions(described, inputs)
    return sorted(positions) == list(range(len(described))) and all(
        each.kind == "integer"
        and tuple(each.shape) == (described[position]["length"],)
        and described[position]["vocabulary"] <= each.vocabulary
        for position, each in zip(positions, inputs)
    )


def _are_one_hot(described, inputs):
    if len(described) != 1 or len(inputs) != 1 or inputs[0].kind != "float" or len(inputs[0].shape) != 2:
        return False
    length, width = inputs[0].shape
    return length == described[0]["length"] and described[0]["vocabulary"] <= width
