"""The optimizers of the vocabulary in float64, each in every form that frameworks give its rule.

`optimizers.py` states the rules and how the forms differ, which is in what epsilon is added to.
"""


def forms(settings, gradients):
    """Return the sum of the steps that a rule makes of gradients, from name of the form to a float64 array.

    `settings` is complete, as `optimizers.complete` makes it. `gradients` are float64 arrays, one for each step.
    """
    return _RULES[settings["name"]](settings, gradients)


def _sgd(settings, gradients):
    """Return the sum, or with momentum and a rate that decays the sums of two forms.

    The velocity holds the rate of each of its steps, or all of it is multiplied by the rate of the last one.
    """
    velocity, total, unscaled, scaled_late = 0.0, 0.0, 0.0, 0.0
    for rate, gradient in zip(_rates(settings, gradients), gradients):
        velocity = settings["momentum"] * velocity - rate * gradient
        unscaled = settings["momentum"] * unscaled - gradient
        total, scaled_late = total + velocity, scaled_late + rate * unscaled
    if settings["momentum"] and settings.get("decay"):
        return {"rate_inside": total, "rate_outside": scaled_late}
    return {"sgd": total}


def _rates(settings, gradients):
    """Return the learning rate of each step."""
    decay = settings.get("decay", 0.0)
    return [settings["learning_rate"] / (1 + decay * step) for step in range(len(gradients))]


def _adam(settings, gradients):
    """Return the sums of the two forms of Adam (Kingma and Ba 2015).

    Epsilon is added to the corrected root (algorithm 1), or to the root as it is (section 2).
    """
    import numpy

    mean, square, corrected, uncorrected = 0.0, 0.0, 0.0, 0.0
    beta_1, beta_2, epsilon = (settings[name] for name in ("beta_1", "beta_2", "epsilon"))
    for step, (rate, gradient) in enumerate(zip(_rates(settings, gradients), gradients), start=1):
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
    rho, epsilon = settings["rho"], settings["epsilon"]
    for rate, gradient in zip(_rates(settings, gradients), gradients):
        square = rho * square + (1 - rho) * gradient * gradient
        inside = inside - rate * gradient / numpy.sqrt(square + epsilon * epsilon)
        outside = outside - rate * gradient / (numpy.sqrt(square) + epsilon)
    return {"inside": inside, "outside": outside}


def _adadelta(settings, gradients):
    import numpy

    square, moved, total = 0.0, 0.0, 0.0
    rho, epsilon = settings["rho"], settings["epsilon"]
    for rate, gradient in zip(_rates(settings, gradients), gradients):
        square = rho * square + (1 - rho) * gradient * gradient
        step = gradient * numpy.sqrt(moved + epsilon) / numpy.sqrt(square + epsilon)
        moved = rho * moved + (1 - rho) * step * step
        total = total - rate * step
    return {"adadelta": total}


_RULES = {"adadelta": _adadelta, "sgd": _sgd, "adam": _adam, "rmsprop": _rmsprop}
