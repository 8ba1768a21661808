"""The operators, with what they take and what they yield in float64.

Inputs are float32, uniform from -1 to 1. An output is compared as a share of `scale`: of the norm of the reference, or
of what its terms could add up to where they cancel each other.
"""

from collections import namedtuple

from benchmarks.errors import BadRequest

Operator = namedtuple("Operator", "takes reference scale multiply_adds")
Operator.__doc__ = """One operator.

    `takes` names its inputs: `vector` (size,), `row` (1, size), `matrix` (size, size), or `array` and `list`, which are
    a vector in the host's memory. `reference` works on float64 arrays, as does `scale`. `multiply_adds` counts those of
    one call by its size."""


def named(name):
    """Return an operator. Raises `BadRequest` if there is none of this name."""
    if name not in OPERATORS:
        raise BadRequest("there is no operator '%s' in this image" % name)
    return OPERATORS[name]


def inputs(operator, size, seed):
    """Draw the inputs of an operator as NumPy arrays of float32."""
    import numpy

    random = numpy.random.RandomState(seed)
    shapes = {"row": (1, size), "matrix": (size, size)}
    return [random.uniform(-1.0, 1.0, shapes.get(kind, (size,))).astype(numpy.float32) for kind in operator.takes]


def norm(array):
    """Return the Euclidean norm in float64."""
    import numpy

    return float(numpy.sqrt(numpy.sum(numpy.square(array, dtype=numpy.float64))))


def _unchanged(values):
    return values


def _sigmoid(values):
    import numpy

    return 1.0 / (1.0 + numpy.exp(-values))


def _relu(values):
    import numpy

    return numpy.maximum(values, 0.0)


def _tanh(values):
    import numpy

    return numpy.tanh(values)


def _softplus(values):
    import numpy

    return numpy.log1p(numpy.exp(values))


def _softsign(values):
    import numpy

    return values / (1.0 + numpy.abs(values))


def _product(one, other):
    return one.dot(other)


def _added(matrix, row):
    return matrix + row


def _multiplied(matrix, row):
    return matrix * row


def _larger(matrix, row):
    import numpy

    return numpy.maximum(matrix, row)


def _flat(values):
    return values.ravel()


def _normalised(values):
    return values / norm(values)


def _of_reference(operator, arrays):
    return norm(operator.reference(*arrays))


def _of_factors(_operator, arrays):
    return norm(arrays[0]) * norm(arrays[1])


def _nothing(_size):
    return 0


def _each(size):
    return size


def _square(size):
    return size**2


def _cube(size):
    return size**3


OPERATORS = {
    "tensor_from_numpy": Operator(("array",), _unchanged, _of_reference, _nothing),
    "tensor_from_list": Operator(("list",), _unchanged, _of_reference, _nothing),
    "sigmoid": Operator(("vector",), _sigmoid, _of_reference, _nothing),
    "relu": Operator(("vector",), _relu, _of_reference, _nothing),
    "tanh": Operator(("vector",), _tanh, _of_reference, _nothing),
    "softplus": Operator(("vector",), _softplus, _of_reference, _nothing),
    "softsign": Operator(("vector",), _softsign, _of_reference, _nothing),
    "dot": Operator(("vector", "vector"), _product, _of_factors, _each),
    "gemm": Operator(("matrix", "matrix"), _product, _of_reference, _cube),
    "flatten": Operator(("matrix",), _flat, _of_reference, _nothing),
    "l2_normalize": Operator(("row",), _normalised, _of_reference, _each),
    "broadcast_add": Operator(("matrix", "row"), _added, _of_reference, _nothing),
    "broadcast_multiply": Operator(("matrix", "row"), _multiplied, _of_reference, _square),
    "broadcast_maximum": Operator(("matrix", "row"), _larger, _of_reference, _nothing),
}
