"""The optimizers that models may name, every setting spelled out, because frameworks differ in their defaults.

Where epsilon stands (inside or outside the square root) is each framework's own.
"""

DEFAULTS = {
    "sgd": {"momentum": 0.0},
    "adam": {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8},
    "rmsprop": {"rho": 0.9, "epsilon": 1e-8},
}


def complete(spec):
    """Lay a model's OPTIMIZER over the defaults; raises ValueError for a name or setting the vocabulary lacks."""
    defaults = DEFAULTS.get(spec["name"])
    if defaults is None:
        raise ValueError("no optimizer '%s'; there are %s" % (spec["name"], ", ".join(sorted(DEFAULTS))))
    unknown = set(spec) - set(defaults) - {"name", "learning_rate"}
    if unknown:
        raise ValueError("optimizer '%s' has no setting '%s'" % (spec["name"], sorted(unknown)[0]))
    return dict(defaults, **spec)
