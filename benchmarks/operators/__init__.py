"""One module for each framework builder that offers single operators, named as the builder.

A module imports its framework at the top. It offers `OPTIONS`, those of the builder, and `start(settings)`, which
returns a session with:

- `call(name)`: a function that carries out an operator of `benchmarks.operators.definitions` and returns a handle.
  Raises `Unsupported` if this framework, or this release of it, has no such operator;
- `placed(array)`: a NumPy array of float32 as the framework's own tensor, on the device;
- `synchronise(handle)`: waits until the operator behind the handle is done;
- `fetch(handle)`: the output as a NumPy array, or None if nothing is computed;
- `device_in_use()`: the device of a tensor that is computed where the operators are;
- `facts()`: `threads`, `device`, `execution` and other facts, queried from the framework;
- `peak_device_bytes()`: highest device memory, or None if the framework does not report it.
"""

from collections import namedtuple

from benchmarks.errors import Unsupported

Settings = namedtuple("Settings", "options threads gpus")
Settings.__doc__ = """The settings of a session: every option with its value, CPU threads or None, and GPUs."""


def one_device(settings):
    """Return whether to use the one GPU. Raises `Unsupported` for more than one."""
    if settings.gpus > 1:
        raise Unsupported("an operator runs on one device; %d GPUs are asked for" % settings.gpus)
    return settings.gpus == 1


def require(settings, name, *values):
    """Raise `Unsupported` if an option has another value than those that single operators take."""
    if settings.options[name] not in values:
        taken = " or ".join(str(value).lower() for value in values)
        raise Unsupported("single operators take the option %s=%s" % (name, taken))


def of(functions, name, framework):
    """Return the function of an operator. Raises `Unsupported` if there is none."""
    if name not in functions:
        raise Unsupported("%s has no operator '%s' here" % (framework, name))
    return functions[name]
