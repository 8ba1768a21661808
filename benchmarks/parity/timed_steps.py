"""Steps of the kind that is timed, compared with their optimizer's rule in float64.

The reference takes the framework's own gradients at the weights before each step. So it judges the optimizer alone, and
no error grows from step to step.
"""

import mmap

from benchmarks.parity import update_rules

STEPS = 3
"""Steps that are compared. Momentum shows from the second on, and the third has a mean of several gradients."""

ROUNDING = 1e-3
"""Share of a tensor's root mean square below which an element of its gradient may be mere rounding.

Adam and RMSprop divide by the gradient, and make a whole step of such an element.
"""
NOISE = 1e-5
"""Share of the norm of all gradients below which the gradient of a whole tensor is rounding.

The gradient of a bias before batch norm is.
"""
READING = 2.0**-24 / 1024 / 1e-4
"""Share of a weight below which its gradient is read to less than four digits, from steps at a rate of 1024."""
FORMS = 1e-2
"""Share of a step by which the forms of a rule may differ in an element that is compared between frameworks."""

EQUAL = 1e-6
"""Share of its norm by which a tensor may be off after it was set."""

SAMPLE = 256
SAMPLE_SEED = 20022
"""The seed of the sampled elements. Samples of another seed cannot be compared with earlier ones."""


class Moments:
    """Weights and gradients of some moments, in memory that this process shares with those that it forks."""

    WEIGHTS, GRADIENTS = range(STEPS + 1), range(STEPS + 1, 2 * STEPS + 1)

    def __init__(self, sizes):
        self._sizes, self._count = sizes, 2 * STEPS + 1
        # One byte for each moment at the end marks it as stored.
        self._memory = mmap.mmap(-1, (4 * sum(sizes.values()) + 1) * self._count)

    def fits(self, tensors):
        """Return whether tensors have the names and sizes of the model's parameters."""
        return {name: value.size for name, value in tensors.items()} == self._sizes

    def store(self, moment, tensors):
        """Copy the tensors of a moment in, as float32."""
        for name, place in self._places(moment).items():
            place[:] = tensors[name].ravel()
        self._memory[moment - self._count] = 1

    def has(self, moment):
        """Return whether the tensors of a moment are stored."""
        return bool(self._memory[moment - self._count])

    def stored(self, moment):
        """Return the tensors of a moment, flat and by name."""
        return self._places(moment)

    def _places(self, moment):
        import numpy

        total, places, begin = sum(self._sizes.values()), {}, 0
        flat = numpy.frombuffer(self._memory, numpy.float32, total, 4 * total * moment)
        for name, size in self._sizes.items():
            places[name] = flat[begin : begin + size]
            begin += size
        return places


def equal(tensors, flat):
    """Return whether tensors and flat tensors of the same names are the same but for rounding."""
    return all(_norm(value.ravel() - flat[name]) <= EQUAL * _norm(flat[name]) for name, value in tensors.items())


def compared(moments, settings):
    """Compare the weights after the steps with the rule. Returns plain values by name of the parameter."""
    import numpy

    gradients = [moments.stored(moment) for moment in Moments.GRADIENTS]
    totals = [_norm(numpy.array([_norm(value) for value in each.values()])) for each in gradients]
    first, last = moments.stored(0), moments.stored(STEPS)
    return {
        name: _tensor(first[name], last[name], [each[name] for each in gradients], totals, settings) for name in first
    }


def _tensor(before, after, gradients, totals, settings):
    import numpy

    before, after = before.astype(numpy.float64), after.astype(numpy.float64)
    gradients = [gradient.astype(numpy.float64) for gradient in gradients]
    rules = update_rules.forms(settings, gradients)
    moved, certain = after - before, _certain(before, gradients, totals, settings["name"] != "sgd")
    return {
        "elements": int(before.size),
        "left_out": int(before.size - numpy.count_nonzero(certain)),
        "weights": _digits(_norm(after[certain])),
        "moved": _digits(_norm(moved[certain])),
        "forms": {
            form: {"moved": _digits(_norm(rule[certain])), "apart": _digits(_norm((moved - rule)[certain]))}
            for form, rule in rules.items()
        },
        "sample": _sample(moved, gradients, certain & _agreed(list(rules.values()))),
    }


def _certain(before, gradients, totals, divided):
    """Mark the elements whose gradient is more than rounding at each step, if the rule divides by it."""
    import numpy

    certain = numpy.ones(gradients[0].size, bool)
    for gradient, total in zip(gradients, totals):
        certain &= _norm(gradient) > NOISE * total
        if divided:
            certain &= numpy.abs(gradient) > ROUNDING * _root_mean_square(gradient)
            certain &= numpy.abs(gradient) > READING * numpy.abs(before)
    return certain


def _agreed(rules):
    """Mark the elements that every form of a rule moves alike."""
    import numpy

    largest, least = numpy.maximum.reduce(rules), numpy.minimum.reduce(rules)
    return largest - least <= FORMS * numpy.maximum(numpy.abs(largest), numpy.abs(least))


def _sample(moved, gradients, certain):
    """Return the steps of a few elements, the same ones in every framework, and how large their gradients were.

    The size of a gradient is the least of the steps, as a share of the tensor's root mean square. It is 0 for an
    element that is left out.
    """
    import numpy

    places = numpy.arange(moved.size)
    if moved.size > SAMPLE:
        places = (numpy.random.RandomState(SAMPLE_SEED).random_sample(SAMPLE) * moved.size).astype(int)
    shares = numpy.minimum.reduce([numpy.abs(each[places]) / _root_mean_square(each) for each in gradients])
    return {
        "moved": [_digits(value) for value in moved[places]],
        "gradients": [float("%.3g" % value) for value in numpy.where(certain[places], shares, 0.0)],
    }


def _root_mean_square(gradient):
    """Return that of a tensor, or 1 if all of it is 0."""
    return _norm(gradient) / gradient.size**0.5 or 1.0


def _norm(values):
    import numpy

    return float(numpy.sqrt(numpy.sum(numpy.square(values, dtype=numpy.float64))))


def _digits(value):
    return float("%.9g" % value)
