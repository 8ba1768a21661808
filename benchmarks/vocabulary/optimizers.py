"""The optimizers that models may name, every setting spelled out, because frameworks differ in their defaults.

The rules, with gradient g, its running means m and v, and weights w:

- `sgd`: momentum * u - learning_rate * g is the new u, and is added to w.
- `adam`: w -= learning_rate * m' / (sqrt(v') + epsilon), with m' and v' corrected for their start at zero
  (Kingma and Ba 2015). Keras and MXNet correct the learning rate instead, so their epsilon weighs more in early steps.
- `rmsprop`: v = rho * v + (1 - rho) * g * g, then w -= learning_rate * g / sqrt(v + epsilon * epsilon).
  So `epsilon` is the least that a step is divided by. A framework that adds inside the root gets its square.
  One that adds outside (PyTorch) gets epsilon itself: the same least divisor, and the same rule far above it.
- `adadelta`: a = rho * a + (1 - rho) * g * g, then u = g * sqrt(d + epsilon) / sqrt(a + epsilon) and
  w -= learning_rate * u, and d = rho * d + (1 - rho) * u * u for the next step (Zeiler 2012).
  Epsilon is inside both roots in every framework. MXNet's has no learning rate: there it is 1, or the model is
  `unsupported`.

Each has the setting `decay`, with Keras' rule: the step after t others has the rate learning_rate / (1 + decay * t).
With momentum, PyTorch and JAX multiply the velocity by the rate of the step, and the others put it into the velocity.

Epsilon is 1e-8, PyTorch's default and a tenth of Keras'. Gradients of 1e-4 then differ by less than 1 % of a step
between those forms, and larger ones by less.
"""

DEFAULTS = {
    "sgd": {"momentum": 0.0},
    "adam": {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8},
    "rmsprop": {"rho": 0.9, "epsilon": 1e-8},
    "adadelta": {"rho": 0.95, "epsilon": 1e-8},
}
DECAY = "decay"
"""A setting of every optimizer. One without it, or with 0, is spelled out without it."""


def complete(spec):
    """Lay a model's OPTIMIZER over the defaults. Raises `ValueError` for what the vocabulary lacks."""
    defaults = DEFAULTS.get(spec["name"])
    if defaults is None:
        raise ValueError("no optimizer '%s'; there are %s" % (spec["name"], ", ".join(sorted(DEFAULTS))))
    settings = ["learning_rate"] + sorted(defaults) + [DECAY]
    for name in sorted(set(spec) - {"name"}):
        if name not in settings:
            message = "optimizer '%s' has no setting '%s'; it has %s"
            raise ValueError(message % (spec["name"], name, ", ".join(settings)))
        if isinstance(spec[name], bool) or not isinstance(spec[name], (int, float)):
            raise ValueError("setting '%s' of optimizer '%s' is a number, not %r" % (name, spec["name"], spec[name]))
    if spec.get(DECAY, 0) < 0:
        raise ValueError("setting 'decay' of optimizer '%s' is 0 or more, not %r" % (spec["name"], spec[DECAY]))
    complete = dict(defaults, **spec)
    if not complete.get(DECAY):
        complete.pop(DECAY, None)
    return complete
