"""The axes of a network's inputs: the one that is the batch, and the samples of a batch whose size is fixed."""

from collections.abc import Iterator, Mapping

Dims = tuple[int | str, ...]
"""Sizes of the axes of a value; the name of one that is dynamic."""
_CALLED = frozenset({"batch", "batch_size", "batchsize", "bs"})
"""Names of the batch, in small letters. They hold for an axis in any place; any other name only for one that leads."""


def is_called_batch(dim: int | str) -> bool:
    """Return true if the name of an axis says that it is the batch."""
    return isinstance(dim, str) and dim.lower() in _CALLED


def batch_axis(inputs: Mapping[str, Dims], given: Mapping[str, int]) -> str | None:
    """Return the dynamic axis that is the batch, or None if its size is fixed, in the file or by `given` sizes.

    It is the axis that is called so, wherever it is: recurrent networks may have the steps first. Without such a name
    it is the first one that leads an input and has no given size.
    """
    dynamic = [dim for dims in inputs.values() for dim in dims if isinstance(dim, str)]
    called = next(filter(is_called_batch, dynamic), None)
    if called is not None:
        return None if called in given else called
    leading = (dims[0] for dims in inputs.values() if dims)
    return next((dim for dim in leading if isinstance(dim, str) and dim not in given), None)


def fixed_batch(inputs: Mapping[str, Dims], given: Mapping[str, int]) -> int:
    """Return the samples of a batch whose size is fixed.

    That is the size of the axis that is called so, else of the first axis of the first input. A network of scalars has
    one sample.
    """
    called = next((dim for dims in inputs.values() for dim in dims if is_called_batch(dim)), None)
    first = next(iter(inputs.values()))[:1]
    axis = called if called is not None else first[0] if first else 1
    return given[axis] if isinstance(axis, str) else axis


def multiples(batch: str | None, given: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield each axis of a given size that its name makes a multiple of the batch, with how many times it is that."""
    for dim in given if batch else ():
        times = _times(dim, batch or "")
        if times:
            yield dim, times


def _times(dim: str, batch: str) -> int:
    """Return how many times the batch an axis is by its name, such as `2*batch`, or 0 for any other name."""
    factors = dim.replace(" ", "").split("*")
    numbers = [int(each) for each in factors if each.isdecimal()]
    return numbers[0] if sorted(factors) == sorted([batch, *map(str, numbers)]) and len(numbers) == 1 else 0
