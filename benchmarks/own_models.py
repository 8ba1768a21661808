"""Models from outside: a file beside the request, run as it is, with its mistakes told at their place."""

import hashlib
import types

from benchmarks import layers
from benchmarks.errors import BadRequest

REQUIRED = ("TITLE", "INPUT_SHAPE", "CLASSES", "BATCH_SIZE", "SAMPLES", "OPTIMIZER", "build")


def load(path, name):
    """Run a model file and return it as a module; raises `BadRequest` with the line where that cannot be done."""
    module = types.ModuleType(name)
    module.__file__ = path
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise BadRequest("the model file %s cannot be read: %s" % (path, error.strerror)) from None
    module.SHA256 = hashlib.sha256(source).hexdigest()
    try:
        exec(compile(source, path, "exec"), module.__dict__)
    except Exception as error:
        raise BadRequest(_placed(error, module)) from error
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        raise BadRequest("%s.py: it has no %s" % (name, ", ".join(missing)))
    return module


def record(model):
    """Record a model's layers; raises `BadRequest` with the line of the model file that asks for what cannot be."""
    try:
        return layers.record(model.build)
    except Exception as error:
        raise BadRequest(_placed(error, model)) from error


def _placed(error, model):
    """`mine.py:12: dense takes flat features, …`, by the last line of the file on the way to the error."""
    import traceback

    name = model.__name__.rpartition(".")[2]
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame[1] for frame in frames if frame[0] == model.__file__]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
    kind = "" if type(error) is ValueError else type(error).__name__ + ": "
    return "%s.py:%s: %s%s" % (name, line, kind, getattr(error, "msg", None) or error)
