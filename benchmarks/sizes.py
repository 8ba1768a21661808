"""The sizes of a model that has several, each a set of axes such as its width and depth.

A model file names them as `SIZES`, and its `build` takes the axes by their names. The first size is the default.
"""

from benchmarks.errors import BadRequest

SIZE = "size"
"""The name by which a size is asked for by hand, beside its axes."""


def resolved(model, given):
    """Return every axis of a model with its value, by what is `given` of them over a size.

    A model without sizes has none. Raises `BadRequest` for an axis or a size that the model lacks.
    """
    sizes = getattr(model, "SIZES", None)
    name = model.__name__.rpartition(".")[2]
    if not sizes:
        if given:
            raise BadRequest("%s has no axes, and '%s' is asked for" % (name, sorted(given)[0]))
        return {}
    size = given.get(SIZE, next(iter(sizes)))
    if size not in sizes:
        raise BadRequest("%s has no size '%s'; there are %s" % (name, size, ", ".join(sizes)))
    axes = dict(sizes[size])
    for axis, value in given.items():
        if axis == SIZE:
            continue
        if axis not in axes:
            raise BadRequest("%s has no axis '%s'; there are %s" % (name, axis, ", ".join(axes)))
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadRequest("the axis '%s' is a whole number from 1, not %r" % (axis, value))
        axes[axis] = value
    return axes
