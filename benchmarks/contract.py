"""The file contract as the container sees it.

A request is read and checked, and a result is written.
"""

import json
import os
from collections import namedtuple

from benchmarks import modes
from benchmarks.errors import BadRequest, Diverged
from benchmarks.inputs import feeds
from benchmarks.timing import load

SCHEMA = 1
COMPILE_CACHE = "BENCH_COMPILE_CACHE"
"""The variable that names a folder of compiled code, which outlives the process."""
_NUMBER = (int, float)


def _text(value):
    return None if isinstance(value, str) and value else "must be a text that is not empty"


def _whole(least):
    def check(value):
        fine = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return None if fine else "must be a whole number of at least %d" % least

    return check


def _seconds(value):
    fine = isinstance(value, _NUMBER) and not isinstance(value, bool) and 0 <= value < float("inf")
    return None if fine else "must be a number of seconds"


def _optional(check):
    return lambda value: None if value is None else check(value)


def _flag(value):
    return None if isinstance(value, bool) else "must be true or false"


def _mode(value):
    return None if value in modes.NAMES else "must be one of '%s'" % "', '".join(modes.NAMES)


def _feed(value):
    return None if value in feeds.NAMES else "must be one of '%s'" % "', '".join(feeds.NAMES)


def _options(value):
    fine = isinstance(value, dict) and all(isinstance(each, (bool, int, float, str)) for each in value.values())
    return None if fine else "must map option names to plain values"


def _axes(value):
    fine = isinstance(value, dict) and all(isinstance(each, (int, float, str)) for each in value.values())
    return None if fine else "must map names of axes to plain values"


def _load(value):
    """Check of a load only what would otherwise end in a traceback, because the host has checked the rest."""
    if not isinstance(value, dict) or not {"scenario", "requests"} <= set(value) <= OF_LOADS:
        return "must say the 'scenario' and the number of 'requests', and may say %s" % _listed(_OPTIONALOF_LOADS)
    if value["scenario"] not in load.SCENARIOS:
        return "must have a scenario of %s" % _listed(load.SCENARIOS)
    needs = {load.SERVER: "rate", load.CLOSED: "concurrency"}
    mine = needs.get(value["scenario"])
    for name in sorted(set(needs.values())):
        if (value.get(name) is not None) != (name == mine):
            return "must have %s '%s' in the scenario %s" % ("a" if name == mine else "no", name, value["scenario"])
    wrong = [name for name in ("requests", "concurrency") if value.get(name) is not None and _whole(1)(value[name])]
    wrong += [
        name for name in ("rate",) + LIMITS
        if value.get(name) is not None and (_seconds(value[name]) or not value[name])
    ]  # fmt: skip
    return "must have a number above 0 as '%s'" % wrong[0] if wrong else None


def _generation(value):
    fine = isinstance(value, dict) and set(value) == {"prompt", "output"}
    fine = fine and not any(_whole(1)(each) for each in value.values())
    return None if fine else "must have whole numbers of at least 1 as 'prompt' and 'output'"


def _listed(names):
    return "'%s'" % "', '".join(names)


LIMITS = ("latency_limit_s", "first_token_limit_s", "per_token_limit_s")
"""The limits of a good answer: the time of all of it, to its first token, and of each further one."""
_OPTIONALOF_LOADS = ("concurrency", "rate") + LIMITS
OF_LOADS = {"scenario", "requests"}.union(_OPTIONALOF_LOADS)


def _variables(value):
    fine = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return None if fine else "must map names of environment variables to texts"


def _file_name(value):
    fine = isinstance(value, str) and value.endswith(".py") and os.path.basename(value) == value
    return None if fine else "must be the name of a file beside the request"


def _script(value):
    """Check of a script only what would otherwise end in a traceback, because the host has checked the rest."""
    texts = ("folder", "file")
    fine = isinstance(value, dict) and all(isinstance(value.get(name), str) for name in texts)
    fine = fine and isinstance(value.get("arguments"), list) and isinstance(value.get("environment"), dict)
    return None if fine and isinstance(value.get("metrics"), list) else "must say what to run and what to read"


def _data(value):
    """Check of the files only what would otherwise end in a traceback, because the host has checked the rest."""
    counts = ("classes", "training", "testing")
    fine = isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("folder", "format"))
    fine = fine and value["format"] in ("idx", "cifar-binary", "cifar-python")
    fine = fine and not any(_whole(1)(value.get(name)) for name in counts)
    fine = fine and isinstance(value.get("image") or value.get("inputs"), list)
    fine = fine and isinstance(value.get("files"), dict)
    return None if fine else "must say where samples lie, their format, and the sums of their files"


def _network(value):
    """Check of a network only what would otherwise end in a traceback, because the host has checked the rest."""
    fine = isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("folder", "file", "sha256"))
    fine = fine and isinstance(value.get("files"), list) and value["files"] and isinstance(value.get("inputs"), list)
    fine = fine and all(
        isinstance(each, dict) and isinstance(each.get("shape"), list) and {"name", "kind", "below"} <= set(each)
        for each in value["inputs"]
    )
    fine = fine and {"outputs", "parameters", "multiply_adds", "batch", "dimensions"} <= set(value)
    return None if fine else "must say where an ONNX file lies, its sum, and what its inputs take"


def _cpuset(value):
    fine = isinstance(value, list) and value and not any(_whole(0)(cpu) for cpu in value)
    return None if fine else "must be a list of CPU numbers"


_REQUIRED = object()
_FIELDS = (
    ("schema", _whole(1), SCHEMA),
    ("cell", _text, _REQUIRED),
    ("repeat", _whole(0), _REQUIRED),
    ("framework", _text, _REQUIRED),
    ("builder", _text, _REQUIRED),
    ("model", _text, _REQUIRED),
    ("model_file", _optional(_file_name), None),
    ("definition_file", _optional(_file_name), None),
    ("mode", _mode, _REQUIRED),
    ("trains", _flag, True),
    ("axes", _axes, {}),
    ("load", _optional(_load), None),
    ("generation", _optional(_generation), None),
    ("script", _optional(_script), None),
    ("batch_size", _whole(1), _REQUIRED),
    ("largest_batch", _flag, False),
    ("dataset", _text, "synthetic"),
    ("data", _optional(_data), None),
    ("network", _optional(_network), None),
    ("feed", _feed, feeds.PLACED),
    ("workers", _whole(0), 0),
    ("options", _options, {}),
    ("variables", _variables, {}),
    ("seed", _whole(0), 0),
    ("threads", _optional(_whole(1)), None),
    ("cpuset", _optional(_cpuset), None),
    ("gpus", _whole(0), 0),
    ("cpu_devices", _whole(1), 1),
    ("warmup_steps", _whole(1), 10),
    ("steps", _optional(_whole(1)), 50),
    ("epochs", _optional(_whole(1)), None),
    ("min_blocks", _whole(1), 10),
    ("min_block_s", _seconds, 0.2),
    ("latency_steps", _whole(0), 150),
    ("evaluate_every_epoch", _flag, True),
    ("telemetry", _flag, True),
)

Request = namedtuple("Request", [name for name, _, _ in _FIELDS])
Request.__doc__ = """A checked request of the host. `docs/contract.md` says what each field means."""


def request(document):
    """Check a request that was read from JSON. Raises `BadRequest` with every mistake in one line."""
    if not isinstance(document, dict):
        raise BadRequest("the request is not a JSON object")
    schema = document.get("schema", SCHEMA)
    if _whole(1)(schema) is None and schema > SCHEMA:
        raise BadRequest("the request has schema %d and this image reads up to %d: rebuild it" % (schema, SCHEMA))
    known = [name for name, _, _ in _FIELDS]
    mistakes = ["'%s' is no field of a request" % name for name in sorted(set(document) - set(known))]
    values = []
    for name, check, default in _FIELDS:
        value = document.get(name, default)
        wrong = "is missing" if value is _REQUIRED else check(value)
        if wrong:
            mistakes.append("'%s' %s" % (name, wrong))
        values.append(value)
    mistakes.extend(_contradictions(document))
    if mistakes:
        raise BadRequest("bad request: " + "; ".join(mistakes))
    return Request(*values)


def _contradictions(document):
    """Yield a sentence for each two fields that do not go together."""
    if (document.get("steps", 50) is None) == (document.get("epochs") is None):
        yield "give either 'steps' or 'epochs', and set the other to null"
    if document.get("workers") and document.get("feed") != feeds.LOADER:
        yield "'workers' belong to the feed '%s'" % feeds.LOADER
    if document.get("largest_batch") and not document.get("gpus"):
        yield "'largest_batch' is that of 'gpus', and there are none"
    if document.get("gpus") and document.get("cpu_devices", 1) != 1:
        yield "'cpu_devices' stand in for GPUs, and there are 'gpus'"
    if document.get("network") is not None and document.get("mode") not in ("infer", "requests", "parity"):
        yield "a 'network' does inference alone"
    if (document.get("mode") == "requests") != (document.get("load") is not None):
        yield "the mode 'requests' and a 'load' go together"
    if document.get("mode") == "generate" and document.get("generation") is None:
        yield "the mode 'generate' needs a 'generation'"
    if document.get("generation") is not None and document.get("mode") not in ("generate", "requests", "parity"):
        yield "a 'generation' is that of the modes 'generate' and 'requests', or of their parity"
    if (document.get("mode") == "script") != (document.get("script") is not None):
        yield "the mode 'script' and a 'script' go together"


def read_request(folder):
    """Read `request.json` in a folder. Raises `BadRequest` if it is missing, broken or wrong."""
    path = os.path.join(folder, "request.json")
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise BadRequest("%s cannot be read: %s" % (path, error.strerror)) from None
    except ValueError as error:
        raise BadRequest("%s is not JSON: %s" % (path, error)) from None
    checked = request(document)
    files = {name: getattr(checked, name) for name in ("model_file", "definition_file")}
    return checked._replace(
        **{name: file and os.path.join(os.path.abspath(folder), file) for name, file in files.items()}
    )


def result_text(result):
    """Return a result as JSON. Raises `Diverged` if it holds a number that JSON does not have."""
    try:
        return json.dumps(result, allow_nan=False, indent=1) + "\n"
    except ValueError:
        raise Diverged("the result holds a number that is not finite") from None


def write_atomically(folder, name, text):
    """Write a file beside its place and rename it, so that a reader sees all of it or nothing."""
    beside = os.path.join(folder, ".%s.%d" % (name, os.getpid()))
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, os.path.join(folder, name))
