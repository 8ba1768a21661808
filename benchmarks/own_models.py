"""Model files from outside, run as they are, with messages that name the place of a mistake."""

import hashlib
import sys
import types

from benchmarks import sizes
from benchmarks.errors import BadRequest
from benchmarks.vocabulary import layers

REQUIRED = ("TITLE", "INPUT_SHAPE", "CLASSES", "BATCH_SIZE", "SAMPLES", "OPTIMIZER", "build")
RAISED = (Exception, SystemExit)
"""Everything that a file from outside may raise. It may not end the process, whose exit code is ours to choose."""


def load(path, name):
    """Run a model file and return it as a module. Raises `BadRequest` with the line if that cannot be done."""
    module = run(path, "benchmarks.models." + name, name + ".py")
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        raise BadRequest("%s.py: it has no %s" % (name, ", ".join(missing)))
    return module


def run(path, name, shown):
    """Run a file as the module `name`, with `SHA256` of its text.

    `shown` is its name in messages. Raises `BadRequest` with the line if that cannot be done.
    """
    module = types.ModuleType(name)
    module.__file__ = path
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise BadRequest("the model file %s cannot be read: %s" % (path, error.strerror)) from None
    module.SHA256 = hashlib.sha256(source).hexdigest()
    # A class or a compiler finds its module by name there alone.
    sys.modules[name] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except RAISED as error:
        raise BadRequest(placed(error, path, shown)) from error
    return module


def record(model, given=None):
    """Record a model's inputs and layers, of a model that has `sizes` by the axes that are given.

    Raises `BadRequest` with the line of a layer that cannot be made.
    """
    axes = sizes.resolved(model, given or {})
    try:
        return layers.recorded(lambda net: model.build(net, **axes))
    except RAISED as error:
        raise BadRequest(placed(error, model.__file__, model.__name__.rpartition(".")[2] + ".py")) from error


def placed(error, path, shown):
    """Return the message of an error, with the last line of the file on the way to it.

    An example is `mine.py:12: dense takes flat features, …`.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame[1] for frame in frames if frame[0] == path]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
    kind = "" if type(error) is ValueError else type(error).__name__ + ": "
    return "%s:%s: %s%s" % (shown, line, kind, getattr(error, "msg", None) or error)
