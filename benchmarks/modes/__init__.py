"""One module for each mode of a request, named as requests name it.

A module offers `answer(request, enter)`, which carries out a checked request. It returns the result as plain values and
a line that says what was done. It raises a `Failure` whose class carries the exit code.

A mode that times the steps of a session also offers `TRAINS`, which is true if builders make a session that learns, and
`TIMING`, a class that is made with a session and has

- `finish`: called with the handle of a step in the latency pass, waits until that step is done;
- `loss(handle, when)`: the finite loss of a step, or None if the mode has none;
- `outputs(handle)`: the logits of a step in the host's memory, or None if the mode has none;
- `evaluates`: True if accuracy is read after each epoch.

A mode without a model, which the command line can ask for too, offers `AXES`, its axes with the values they have there
by default, and `lines(request, result)`, which yields the result for people.
"""

import importlib
import pkgutil

NAMES = tuple(sorted(each.name for each in pkgutil.iter_modules(__path__)))


def named(name):
    """Import the module of a mode."""
    return importlib.import_module("benchmarks.modes." + name)


def timed():
    """Return the names of the modes that time the steps of a session."""
    return [name for name in NAMES if hasattr(named(name), "TIMING")]


def by_hand():
    """Return the names of the modes that the command line can ask for."""
    asked = ("TIMING", "AXES", "GENERATION")
    return [name for name in NAMES if any(hasattr(named(name), each) for each in asked)]
