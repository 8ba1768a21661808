"""The answer to a request of mode `parity`: what a framework's own layers are, and what they compute.

Nothing is timed. One fixed batch, the weights that the harness draws, dropout off, plain SGD: whatever does the same
work gets the same numbers, up to rounding. A dropout draws by chance, so all that is asked of each is whether it drops.
Each session has a process of its own, forked before any framework is imported, because some frameworks keep state
between two models of one process.
"""

import functools
import json
import os
import sys
import time
import traceback

from benchmarks import MEASUREMENT_VERSION, contract, counting, definitions, errors, optimizers, process
from benchmarks.errors import Failure
from benchmarks.workload import Workload, model_module

LEARNING_RATE = 0.01
"""Of the plain descent, where a model names no other one as `PARITY_LEARNING_RATE`."""
STEPS = (1, 3, 10)
"""The plain descent, and after how many of its steps the loss is told."""

GRADIENT_RATE = 1024.0
"""A gradient is read as what one step takes from the weights. At this rate, a power of two, the step is so much larger
than the weights' own rounding that the difference keeps a float32's digits."""

LOOKS = 3
"""How many losses tell whether they change where nothing is learned; a mask that is drawn once changes none."""

BUCKETS = 1024
SKETCH_SEED = 20021
"""Of the count sketch; another seed makes sketches that cannot be compared with earlier ones."""


def check(request, enter):
    """Carry out a request of mode `parity`; the result is a `ParityResult` of the contract as plain values.

    Raises a `Failure` whose class carries the exit code.
    """
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    begin = time.perf_counter()
    process.prepare(request)
    first = _in_a_process(_first_step, request, enter)
    descent = _in_a_process(_descent, request, enter)
    inference = _in_a_process(_inference, request, enter)
    names = [layer["name"] for layer in first["counted"] if layer["name"].startswith("dropout_")]
    dropouts = {name: _in_a_process(functools.partial(_dropout, name), request, enter) for name in names}
    result = {
        "schema": contract.SCHEMA,
        "measurement_version": MEASUREMENT_VERSION,
        "cell": request.cell,
        "started_at": started_at,
        "dropouts": dropouts,
        "wall_s": time.perf_counter() - begin,
    }
    return dict(result, **dict(first, **dict(descent, **inference)))


def _first_step(request, enter):
    """What the layers are, and the gradients of the first step, in canonical layout."""
    session, workload = _start(request, enter, "train", GRADIENT_RATE)
    enter("first_step")
    lacking = definitions.lacking(session)
    before = _weights(session, lacking)
    layers = [] if "native_layers" in lacking else [_layer(*layer) for layer in session.native_layers()]
    inputs, _ = next(workload.batches())
    logits = None if "predict" in lacking else session.predict(inputs)
    handle = session.step(session.batches[0])
    session.synchronise(handle)
    after = _weights(session, lacking)
    return {
        "parameters": int(session.parameters),
        "layers": layers,
        "counted_parameters": counting.parameters(workload.layers),
        "counted": [_layer(layer.name, layer.output_shape, counting.parameters([layer])) for layer in workload.layers],
        "weights": {name: tensor(value) for name, value in before.items()},
        "gradients": {name: tensor((value - after[name]) / GRADIENT_RATE) for name, value in before.items()},
        "logits": None if logits is None else tensor(logits),
        "lacking": lacking,
    }


def _descent(request, enter):
    """Losses of the fixed batch before any step and after some, and the facts."""
    session, workload = _start(request, enter, "train")
    enter("steady")
    losses = _losses(session, max(STEPS) + 1)
    return {
        "first_loss": losses[0],
        "losses": {str(steps): losses[steps] for steps in STEPS},
        "learning_rate": workload.optimizer["learning_rate"],
        "facts": process.facts(request, workload, session),
    }


def _inference(request, enter):
    """Logits of the fixed batch by the very step that is timed where inference is measured."""
    session, _ = _start(request, enter, "infer")
    enter("latency")
    return {"inferred": tensor(session.fetch(session.step(session.batches[0])))}


def _dropout(name, request, enter):
    """Losses of the fixed batch where one layer alone drops and nothing is learned: only what it drops changes them."""
    session, workload = _start(request, enter, "train", learning_rate=0.0, dropping=name)
    enter("steady")
    (rate,) = [layer.settings["rate"] for layer in workload.layers if layer.name == name]
    return {"rate": rate, "losses": _losses(session, LOOKS)}


def _losses(session, steps):
    """Loss of the fixed batch at each of so many steps."""
    losses = []
    for _ in range(steps):
        handle = session.step(session.batches[0])
        session.synchronise(handle)
        losses.append(session.loss(handle))
    return losses


def descent_rate(model):
    """The learning rate of a model's plain descent: at which the loss falls steadily, and rounding stays rounding."""
    return getattr(model, "PARITY_LEARNING_RATE", LEARNING_RATE)


def _start(request, enter, mode, learning_rate=None, dropping=None):
    """Start a session of a mode, in training without any dropout but the one of the name `dropping`."""
    model = model_module(request.model, request.model_file)
    builder, _ = process.import_builder(request.builder, enter)
    enter("build")
    maker = definitions.maker(request, builder)
    workload = Workload(request._replace(mode=mode), model, maker.OPTIONS)
    rate = descent_rate(model) if learning_rate is None else learning_rate
    workload.optimizer = optimizers.complete({"name": "sgd", "learning_rate": rate})
    if workload.training:
        # Inference drops nothing, and whether it does is one of the questions.
        workload.layers = tuple(
            layer if layer.name == dropping else _without_dropout(layer) for layer in workload.layers
        )
    workload.batch_count = 1
    return maker.start(workload), workload


def _without_dropout(layer):
    return layer._replace(settings={"rate": 0.0}) if layer.kind == "dropout" else layer


def _weights(session, lacking):
    """What the session holds, whatever it should: as float64 by name; nothing where it cannot be asked."""
    import numpy

    if "weights" in lacking:
        return {}
    return {name: numpy.asarray(value, numpy.float64) for name, value in session.weights().items()}


def _layer(name, shape, parameters):
    return {"name": name, "shape": [int(extent) for extent in shape], "parameters": int(parameters)}


def tensor(array):
    """Make a tensor small: its Euclidean norm, and its values or, where they are more than `BUCKETS`, a sketch of them.

    The sketch adds every value, with a random sign, to a random bucket (Charikar, Chen and Farach-Colton 2002); the
    norm of the difference of two sketches estimates the norm of the difference of the tensors. Nine digits are kept.
    """
    import numpy

    values = numpy.asarray(array, numpy.float64).ravel()
    norm = float(numpy.sqrt(numpy.sum(values * values)))
    if values.size > BUCKETS:
        random = numpy.random.RandomState(SKETCH_SEED)
        buckets = (random.random_sample(values.size) * BUCKETS).astype(int)
        signs = numpy.where(random.random_sample(values.size) < 0.5, -1.0, 1.0)
        values = numpy.bincount(buckets, signs * values, BUCKETS)
    return {"norm": float("%.9g" % norm), "sketch": [float("%.9g" % value) for value in values]}


def _in_a_process(work, request, enter):
    """Call `work(request, enter)` in a forked process and return what it returns; raises the `Failure` it raises."""
    reading, writing = os.pipe()
    bind = process.dying_with_this()
    child = os.fork()
    if child == 0:
        bind()
        _tell_and_end(writing, work, request, enter)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer or status:
        how = "by signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "with %d" % os.WEXITSTATUS(status)
        raise Failure("the process of a parity session ended %s" % how)
    outcome = json.loads(answer)
    if "failure" in outcome:
        raise getattr(errors, outcome["failure"])(outcome["reason"])
    return outcome["result"]


def _tell_and_end(writing, work, request, enter):
    """Write the outcome as JSON and end, whatever happens: the rest of the program belongs to the process above."""
    try:
        with os.fdopen(writing, "w") as pipe:
            json.dump(_outcome(work, request, enter), pipe)
        sys.stdout.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


def _outcome(work, request, enter):
    """What a forked process has to tell: its result, or the class and the message of its `Failure`."""
    try:
        with process.device_memory(request):
            return {"result": work(request, enter)}
    except Failure as failure:
        if failure.__cause__:
            traceback.print_exc()
        return {"failure": type(failure).__name__, "reason": str(failure)}
    except Exception as error:
        traceback.print_exc()
        return {"failure": "Failure", "reason": process.describe(error)}
