"""Files from outside that hold a model, run as they are, with their mistakes told at their place."""

import hashlib
import sys
import types

from benchmarks.errors import BadRequest
from benchmarks.vocabulary import layers

REQUIRED = ("TITLE", "INPUT_SHAPE", "CLASSES", "BATCH_SIZE", "SAMPLES", "OPTIMIZER", "build")
RAISED = (Exception, SystemExit)
"""What a file from outside may raise: one that ends its process would choose the exit code, which is ours to mean."""


def load(path, name):
    """Run a model file and return it as a module; raises `BadRequest` with the line where that cannot be done."""
    module = run(path, "benchmarks.models." + name, name + ".py")
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        raise BadRequest("%s.py: it has no %s" % (name, ", ".join(missing)))
    return module


def run(path, name, shown):
    """Run a file as the module `name`, with `SHA256` of its text; `shown` is what messages call it."""
    module = types.ModuleType(name)
    module.__file__ = path
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise BadRequest("the model file %s cannot be read: %s" % (path, error.strerror)) from None
    module.SHA256 = hashlib.sha256(source).hexdigest()
    # What a class or a compiler looks up by the name of its module, it finds there alone.
    sys.modules[name] = module
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except RAISED as error:
        raise BadRequest(placed(error, path, shown)) from error
    return module


def record(model):
    """Record a model's inputs and layers; raises `BadRequest` with the line that asks for what cannot be."""
    try:
        return layers.recorded(model.build)
    except RAISED as error:
        raise BadRequest(placed(error, model.__file__, model.__name__.rpartition(".")[2] + ".py")) from error


def placed(error, path, shown):
    """`mine.py:12: dense takes flat features, …`, by the last line of the file on the way to the error."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame[1] for frame in frames if frame[0] == path]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
    kind = "" if type(error) is ValueError else type(error).__name__ + ": "
    return "%s:%s: %s%s" % (shown, line, kind, getattr(error, "msg", None) or error)
