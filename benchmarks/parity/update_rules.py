"""The optimizers of the vocabulary in float64, each in every form that frameworks give its rule.

`optimizers.py` states the rules and how the forms differ, which is in what epsilon is added to.
"""


def forms(settings, gradients):
    """Return the sum of the steps that a rule makes of gradients, from name of the form to a float64 array.

    `settings` is complete, as `optimizers.complete` makes it. `gradients` are float64 arrays, one for each step.
    """
    return _RULES[settings["name"]](settings, gradients)


def _sgd(settings, gradients):
    velocity, total = 0.0, 0.0
    for gradient in gradients:
        velocity = settings["momentum"] * velocity - settings["learning_rate"] * gradient
        total = total + velocity
    return {"sgd": total}


def _adam(settings, gradients):
    """Return the sums of the two forms of Adam (Kingma and Ba 2015).

    Epsilon is added to the corrected root (algorithm 1), or to the root as it is (section 2).
    """
    import numpy

    mean, square, corrected, uncorrected = 0.0, 0.0, 0.0, 0.0
    rate, beta_1, beta_2, epsilon = (settings[name] for name in ("learning_rate", "beta_1", "beta_2", "epsilon"))
    for step, gradient in enumerate(gradients, start=1):
        mean = beta_1 * mean + (1 - beta_1) * gradient
        square = beta_2 * square + (1 - beta_2) * gradient * gradient
        towards, correction = rate * mean / (1 - beta_1**step), (1 - beta_2**step) ** 0.5
        root = numpy.sqrt(square)
        corrected = corrected - towards / (root / correction + epsilon)
        uncorrected = uncorrected - towards * correction / (root + epsilon)
    return {"corrected": corrected, "uncorrected": uncorrected}


def _rmsprop(settings, gradients):
    """Return the sums of two forms, with epsilon outside the root or its square inside."""
    import numpy

    square, inside, outside = 0.0, 0.0, 0.0
    rate, rho, epsilon = (settings[name] for name in ("learning_rate", "rho", "epsilon"))
    for gradient in gradients:
        square = rho * square + (1 - rho) * gradient * gradient
        inside = inside - rate * gradient / numpy.sqrt(square + epsilon * epsilon)
        outside = outside - rate * gradient / (numpy.sqrt(square) + epsilon)
    return {"inside": inside, "outside": outside}


_RULES = {"sgd": _sgd, "adam": _adam, "rmsprop": _rmsprop}
