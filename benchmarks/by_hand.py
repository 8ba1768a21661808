"""The command line of the container, which measures without the harness.

`lenet --batch-size 200` measures LeNet and prints a readable result.
"""

import argparse
import json
import os
import statistics
import sys

from benchmarks import contract, modes, sizes
from benchmarks.errors import BadRequest
from benchmarks.inputs import feeds, mounted
from benchmarks.sampling import telemetry
from benchmarks.timing import measure
from benchmarks.workload import model_module

_UNDER_NO_LOAD = ("steps", "epochs", "feed", "workers")
_UNGENERATED = ("epochs", "feed", "workers")
_OF_MODELS = ("batch_size", "steps", "epochs", "dataset", "data", "feed", "workers")


_OWN_AXES = {"load": contract.OF_LOADS, "generation": ("prompt", "output")}
_AXES = (
    "size or an axis of a model; of --mode ops: size, seeds or tries; of --mode requests: the load; "
    "of --mode generate: prompt or output, which make a request of --mode requests a prompt"
)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadRequest("%s; --help shows what there is" % message)


def main(arguments):
    """Measure what the command line asks for, and print it."""
    parser = _arguments()
    options = parser.parse_args(arguments)
    if options.versions:
        versions = telemetry.versions(sys.path)
        print(json.dumps({"python": telemetry.python_version(), "versions": versions}, indent=1))
        return
    request = _request(options)
    mode = modes.named(request.mode)
    with _stdout_for_the_result(options.json):
        result, _ = mode.answer(request, lambda _phase: None)
    print(contract.result_text(result) if options.json else "\n".join(_lines(mode, request, result)))


def _arguments():
    parser = _Parser(prog="benchmarks", description="Measure one model in the framework of this image.")
    add = parser.add_argument
    add("model", nargs="?", help="a model, such as lenet, the path of one of your own, or of --mode ops an operator")
    add("--mode", choices=modes.by_hand(), default="train")
    add("--axis", action="append", default=[], metavar="NAME=VALUE", help=_AXES)
    add("--batch-size", type=int, help="default: the model's own")
    add("--steps", type=int, help="fewest timed steps (default 50)")
    add("--epochs", type=int, help="time whole epochs in place of steps")
    add(
        "--dataset", default="synthetic", help="synthetic (the default), digits, or a published one that lies in --data"
    )
    add("--data", metavar="DIR", help="folder with the files of mnist, fashion-mnist or cifar10")
    add("--feed", choices=feeds.NAMES, default=feeds.PLACED, help="how batches reach the steps (default: placed)")
    add("--workers", type=int, default=0, help="workers of the framework's loader (default 0)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the framework")
    add("--threads", type=int, help="CPU threads of the framework (default: its own choice)")
    add("--gpus", type=int, default=0, help="several share each batch")
    add("--cpu-devices", type=int, default=1, help="CPU devices that stand in for GPUs, to compare losses (default 1)")
    add("--framework", default=os.environ.get("BENCH_BUILDER"), help="a file of benchmarks/frameworks")
    add("--json", action="store_true", help="print the result as JSON, and everything else on stderr")
    add("--versions", action="store_true", help="print which distributions are installed, as JSON, and end")
    return parser


def _request(options):
    if options.model is None:
        raise BadRequest("name a model, such as lenet; --help shows what there is")
    if options.framework is None:
        raise BadRequest("name a framework by --framework or the variable BENCH_BUILDER")
    if options.steps is not None and options.epochs is not None:
        raise BadRequest("give either --steps or --epochs")
    axes = getattr(modes.named(options.mode), "AXES", None)
    own = {name.lower(): getattr(modes.named(options.mode), name, None) for name in ("LOAD", "GENERATION")}
    given = dict(_pair("--axis", text) for text in options.axis)
    if own["load"] is not None and set(given).intersection(_OWN_AXES["generation"]):
        own["generation"] = modes.named(options.mode).LENGTHS
    defaults = _arguments().parse_args([])
    for option in _misplaced(axes, own):
        if getattr(options, option) != getattr(defaults, option):
            raise BadRequest("--%s does not go with --mode %s" % (option.replace("_", "-"), options.mode))
    if axes is not None:
        return contract.request(dict(_common(options, options.model), batch_size=1, axes=dict(axes, **given)))
    name, file = _model(options.model)
    model = model_module(name, file)
    batch_size = model.BATCH_SIZE if options.batch_size is None else options.batch_size
    steps = None if options.epochs is not None else 50 if options.steps is None else options.steps
    document = dict(
        _common(options, name),
        cell="by-hand/%s-%s-b%s" % (name, options.mode, batch_size),
        batch_size=batch_size,
        dataset=options.dataset,
        data=mounted.described(options.dataset, options.data) if options.data else None,
        feed=options.feed,
        workers=options.workers,
        steps=steps,
        epochs=options.epochs,
        axes=sizes.resolved(model, {name: value for name, value in given.items() if name not in _names(own)}),
    )
    for field, default in own.items():
        if default is not None:
            mine = {name: value for name, value in given.items() if name in _OWN_AXES[field]}
            document[field] = dict(default, **mine)
    definition = _definition_beside(model, options.framework)
    return contract.request(document)._replace(model_file=file, definition_file=definition)


def _misplaced(axes, own):
    """Return the options that a mode does not take, by its axes, and by the load or the generation it has."""
    if axes is not None:
        return _OF_MODELS
    if own["load"] is not None:
        return _UNDER_NO_LOAD
    return () if own["generation"] is None else _UNGENERATED


def _names(own):
    """Return the axes that a mode itself has."""
    return {name for field, default in own.items() if default is not None for name in _OWN_AXES[field]}


def _definition_beside(model, builder):
    """Return the file that defines a model for a builder, or None.

    It is in the folder next to the model that has the model's name.
    """
    path = os.path.join(os.path.splitext(model.__file__)[0], builder + ".py")
    return path if os.path.isfile(path) else None


def _common(options, name):
    """Return the part of a request that every mode has."""
    return {
        "cell": "by-hand/%s-%s" % (name, options.mode),
        "repeat": 0,
        "framework": options.framework,
        "builder": options.framework,
        "model": name,
        "mode": options.mode,
        "options": dict(_pair("--option", text) for text in options.option),
        "threads": options.threads,
        "gpus": options.gpus,
        "cpu_devices": options.cpu_devices,
    }


def _model(text):
    """Return a model's name, and its file if it is none of the image's models."""
    if not text.endswith(".py"):
        return text, None
    return os.path.basename(text)[: -len(".py")] or text, os.path.abspath(text)


def _pair(option, text):
    name, equals, value = text.partition("=")
    if not equals:
        raise BadRequest("%s %s has no value; write %s %s=VALUE" % (option, text, option, text))
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


class _stdout_for_the_result:
    """A context that sends everything written to stdout, by C libraries too, to stderr."""

    def __init__(self, active):
        self._active = active

    def __enter__(self):
        if self._active:
            sys.stdout.flush()
            self._stdout = os.dup(1)
            os.dup2(2, 1)

    def __exit__(self, *failure):
        if self._active:
            sys.stdout.flush()
            os.dup2(self._stdout, 1)
            os.close(self._stdout)


def _lines(mode, request, result):
    """Yield the result for people, in ASCII because the locale of an image may know nothing else."""
    if hasattr(mode, "lines"):
        yield "%s, %s, %s" % (request.model, request.mode, _environment(request, result["facts"]))
        yield from mode.lines(request, result)
    else:
        yield from _of_model(request, result)


def _of_model(request, result):
    model = model_module(request.model, request.model_file)
    facts = result["facts"]
    rates = sorted(block["samples"] / block["wall_s"] for block in result["blocks"])
    waited = [block["waited_s"] / block["wall_s"] for block in result["blocks"] if "waited_s" in block]
    step_ms = [1e3 * block["wall_s"] / block["steps"] for block in result["blocks"]]
    phases = result["phases"]
    yield "%s, %s, batches of %d, %s" % (model.TITLE, request.mode, request.batch_size, _environment(request, facts))
    if request.definition_file:
        yield "definition  of its own for this framework: %s/%s.py" % (request.model, request.builder)
    spread = (statistics.median(rates), len(rates), rates[0], rates[-1])
    yield "throughput  %.1f samples/s (median of %d blocks; %.1f to %.1f)" % spread
    yield "step        %.3f ms (median, pipelined)" % statistics.median(step_ms)
    if waited:
        yield "waiting     %.1f %% of a block for data (median; feed %s)" % (
            100 * statistics.median(waited),
            request.feed,
        )
    if result["latency_s"]:
        latency = [measure.percentile(result["latency_s"], share) * 1e3 for share in (0.5, 0.9, 0.99)]
        yield "latency     p50 %.3f ms, p90 %.3f ms, p99 %.3f ms (synchronised at every step)" % tuple(latency)
    if result["loss"]:
        yield "loss        %.6f in the first step, %.6f in the last" % (result["loss"]["first"], result["loss"]["last"])
    if result["epochs"]:
        last = result["epochs"][-1]
        yield "accuracy    %.4f on test data after %d epochs" % (last["test_accuracy"], len(result["epochs"]))
    counts = result["model"]
    yield "model       %d parameters, %d multiply-adds per sample" % (counts["parameters"], counts["multiply_adds"])
    start = (phases["import_s"], phases["data_s"], phases["build_s"], phases["first_step_s"], phases["warmup_s"])
    yield "start       import %.2f s, data %.2f s, build %.2f s, first step %.3f s, warm-up %.2f s" % start
    yield "memory      %.0f MB at most" % (result["memory"]["peak_rss_bytes"] / 1e6)


def _environment(request, facts):
    words = [request.builder, "Python " + facts["python"]]
    if facts["framework_version"]:
        words[0] += " " + facts["framework_version"]
    if facts["threads"]:
        words.append("%d threads" % facts["threads"])
    return ", ".join(words)
