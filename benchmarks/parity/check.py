"""The answer to a request of mode `parity`, with a framework's own layers and what they compute.

Nothing is timed. One fixed batch, the weights that the harness draws, dropout off, plain SGD: whatever does the same
work gets the same numbers, up to rounding. Then come the very steps that are timed, by the model's own optimizer, which
are compared with its rule. A dropout draws by chance, so the only question is whether it drops. Each session has a
process of its own, forked before anything is computed.
"""

import functools
import os
import time

from benchmarks import MEASUREMENT_VERSION, contract, definitions, devices, own_models, process, quantisation
from benchmarks.errors import CannotTrain
from benchmarks.parity import forked, generated, quantised, timed_steps
from benchmarks.parity.tensors import tensor, tensors_of_outputs
from benchmarks.timing import evaluation
from benchmarks.vocabulary import counting, features, optimizers
from benchmarks.vocabulary.losses import l2_terms
from benchmarks.workload import model_module, prepared

LEARNING_RATE = 0.01
"""The rate of the plain descent, unless a model names another one as `PARITY_LEARNING_RATE`."""
STEPS = (1, 3, 10)
"""The numbers of steps of the plain descent after which the loss is read."""

GRADIENT_RATE = 1024.0
"""The rate of the step whose change of the weights is read as their gradient.

It is a power of two, and so large beside the weights' own rounding that the difference has a float32's digits.
"""

SMALL = 10_000_000
"""The most parameters of a model whose sessions run two at once. Two sessions of a larger one may not fit in memory."""

LOOKS = 3
"""Losses that show whether a dropout changes them. A mask that is drawn once changes none."""


def check(request, enter):
    """Carry out a request of mode `parity` and return a `ParityResult` of the contract as plain values.

    Raises a `Failure` whose class carries the exit code.
    """
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    begin = time.perf_counter()
    process.prepare(request)
    if not request.gpus:  # a framework may ask the driver of a GPU while it is imported, which does not survive a fork
        process.import_builder(request.builder, enter)  # once, for all the processes that are forked from this one
    if request.network is not None:
        answers = forked.in_a_process(_of_network, request, enter)
    elif request.generation is not None:
        answers = forked.in_a_process(_of_generation, request, enter)
    else:
        answers = _of_model(request, enter)
    result = {
        "schema": contract.SCHEMA,
        "measurement_version": MEASUREMENT_VERSION,
        "cell": request.cell,
        "started_at": started_at,
        "wall_s": time.perf_counter() - begin,
    }
    return dict(result, **answers)


def _of_model(request, enter):
    if quantisation.asked(request.options) != quantisation.NONE:
        return forked.in_a_process(_of_quantised, request, enter)
    if request.trains:
        try:
            return _of_training(request, enter)
        except CannotTrain:
            pass
    return forked.in_a_process(_of_inference_alone, request, enter)


def _of_network(request, enter):
    """Return the outputs of an exported network by the step that is timed. Its file is its definition."""
    session, workload = _start(request, enter, "infer")
    enter("latency")
    outputs = session.fetch(session.step(session.batches[0]))
    parameters = workload.counts()["parameters"]
    return {
        "parameters": int(session.parameters),
        "layers": [],
        "counted_parameters": parameters,
        "counted": [],
        "weights": {},
        "network": workload.fed_sha256,
        "outputs": dict(tensors_of_outputs(workload.network["outputs"], outputs)),
        "lacking": [features.TRAINING],
        "first_loss": None,
        "losses": {},
        "gradients": {},
        "facts": process.facts(request, workload, session),
    }


def _of_training(request, enter):
    """Return the answers of training sessions and an inference session. Raises `CannotTrain` without training."""
    sizes = forked.in_a_process(_sizes, request, enter)
    at_once = _sessions_at_once(request, sizes)
    moments = timed_steps.Moments(sizes)
    first = forked.in_a_process(functools.partial(_first_step, moments), request, enter)
    names = [layer["name"] for layer in first["counted"] if layer["name"].startswith("dropout_")]
    works = [functools.partial(_timed_steps, moments), _descent, _inference]
    works += [functools.partial(_dropout, name) for name in names]
    settings, descent, inference, *dropouts = forked.in_processes(works, request, enter, at_once)
    later = [functools.partial(_later_gradient, moments, step) for step in range(1, timed_steps.STEPS)]
    optimizer = None
    if settings is not None and all(forked.in_processes(later, request, enter, at_once)):
        tensors = forked.in_a_process(lambda *_: timed_steps.compared(moments, settings), request, enter)
        optimizer = {"settings": settings, "steps": timed_steps.STEPS, "tensors": tensors}
    elif moments.has(0):  # a session starts from other weights than those that were set
        first["lacking"].append("given_weights")
    return dict(first, optimizer=optimizer, dropouts=dict(zip(names, dropouts)), **dict(descent, **inference))


def _sessions_at_once(request, sizes):
    """Return how many sessions run at once, as one that builds its graph keeps one CPU busy.

    Sessions that share a GPU would share its memory. Those that share a cache of compiled code wait for its lock.
    """
    is_alone = request.gpus or contract.COMPILE_CACHE in os.environ or sum(sizes.values()) > SMALL
    return 1 if is_alone else 2


def _of_inference_alone(request, enter):
    """Return the answers of an inference session, from which parity of inference is judged.

    The first loss is worked out from its logits. Of a model with batch norm there is none, as training has another one.
    """
    session, workload = _start(request, enter, "infer")
    enter("latency")
    evidence = _evidence(session, workload)
    logits = session.fetch(session.step(session.batches[0]))
    return dict(
        evidence,
        lacking=evidence["lacking"] + [features.TRAINING],
        first_loss=_first_loss(logits, request, workload),
        losses={},
        learning_rate=descent_rate(model_module(request.model, request.model_file)),
        gradients={},
        inferred=tensor(logits),
        facts=process.facts(request, workload, session),
    )


def _of_generation(request, enter):
    """Return the answers of a generator by the very steps that are timed: the first logits, and all tokens."""
    session, workload = _start(request, enter, "generate")
    enter("latency")
    evidence = _evidence(session, workload)
    logits, answers = generated.answer(session, workload.generation)
    return dict(
        evidence,
        lacking=evidence["lacking"] + [features.TRAINING],
        first_loss=None,
        losses={},
        gradients={},
        inferred=tensor(logits),
        generated=answers,
        facts=process.facts(request, workload, session),
    )


def _of_quantised(request, enter):
    """Return the answers of inference, with those that show how far quantisation moves them."""

    def started(asked, weights=None):
        flat = weights and {name: array.ravel() for name, array in weights.items()}
        return _start(asked, enter, "infer", weights=flat)

    answers = _of_inference_alone(request, enter)
    logits, choices = quantised.answer(request, enter, started)
    return dict(answers, quantised=dict(choices, logits=tensor(logits)))


def _first_loss(logits, request, workload):
    """Return the loss of the logits of inference with L2 terms, or None if those of training would be others."""
    import numpy

    if any(layer.kind == "batch_norm" for layer in workload.layers):
        return None
    samples = next(workload.data.batches(request.batch_size, 1))
    loss, _ = evaluation.scores(
        lambda _inputs: logits, samples, request.batch_size, workload.classes, loss=workload.loss
    )
    drawn = workload.weights()
    terms = [factor * numpy.square(drawn[name], dtype=float).sum() for name, factor in l2_terms(workload.layers)]
    return loss + float(sum(terms))


def _evidence(session, workload):
    """Return the layers, their weights, and the logits of the fixed batch."""
    lacking = definitions.lacking(session)
    inputs, _ = next(workload.batches())
    logits = None if "predict" in lacking else session.predict(inputs)
    layers = [] if "native_layers" in lacking else [_layer(*layer) for layer in session.native_layers()]
    return {
        "parameters": int(session.parameters),
        "layers": layers,
        "counted_parameters": counting.parameters(workload.layers),
        "counted": [_layer(layer.name, layer.output_shape, counting.parameters([layer])) for layer in workload.layers],
        "weights": {name: tensor(value) for name, value in _weights(session, lacking).items()},
        "logits": None if logits is None else tensor(logits),
        "lacking": lacking,
    }


def _sizes(request, _enter):
    """Count the weights of each parameter, by its name."""
    recorded = own_models.record(model_module(request.model, request.model_file), request.axes).layers
    return {parameter.name: counting.size(parameter.shape) for layer in recorded for parameter in layer.parameters}


def _first_step(moments, request, enter):
    """Return the layers, and the gradients of the first step in canonical layout."""
    session, workload = _start(request, enter, "train", GRADIENT_RATE)
    enter("first_step")
    evidence = _evidence(session, workload)
    before = _weights(session, evidence["lacking"])
    handle = session.step(session.batches[0])
    session.synchronise(handle)
    after = _weights(session, evidence["lacking"])
    gradients = {name: (value - after[name]) / GRADIENT_RATE for name, value in before.items()}
    if moments.fits(before):
        moments.store(timed_steps.Moments.WEIGHTS[0], before)
        moments.store(timed_steps.Moments.GRADIENTS[0], gradients)
    return dict(evidence, gradients={name: tensor(value) for name, value in gradients.items()})


def _descent(request, enter):
    """Return losses of the fixed batch before any step and after some, and the facts."""
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
    """Return logits of the fixed batch by the very step that is timed when inference is measured."""
    session, _ = _start(request, enter, "infer")
    enter("latency")
    return {"inferred": tensor(session.fetch(session.step(session.batches[0])))}


def _timed_steps(moments, request, enter):
    """Do the steps that are timed, store the weights after each, and return the optimizer's settings.

    Return None if the weights of a session cannot be read, or if this one starts from others than the first step's.
    """
    if not moments.has(0):
        return None
    session, workload = _start(request, enter, "train", timed=True)
    enter("steady")
    weights = _weights(session, ())
    if not moments.fits(weights) or not timed_steps.equal(weights, moments.stored(0)):
        return None
    for step in range(1, timed_steps.STEPS + 1):
        handle = session.step(session.batches[0])
        session.synchronise(handle)
        moments.store(step, _weights(session, ()))
    return workload.optimizer


def _later_gradient(moments, step, request, enter):
    """Store the gradient at the weights after a step. Returns False if the session starts from others."""
    session, _ = _start(request, enter, "train", GRADIENT_RATE, weights=moments.stored(step))
    enter("steady")
    before = _weights(session, ())
    if not moments.fits(before) or not timed_steps.equal(before, moments.stored(step)):
        return False
    handle = session.step(session.batches[0])
    session.synchronise(handle)
    after = _weights(session, ())
    gradients = {name: (value - after[name]) / GRADIENT_RATE for name, value in before.items()}
    moments.store(timed_steps.Moments.GRADIENTS[step], gradients)
    return True


def _dropout(name, request, enter):
    """Return losses of the fixed batch that change only by what one layer drops, as nothing is learned."""
    session, workload = _start(request, enter, "train", learning_rate=0.0, dropping=name)
    enter("steady")
    (rate,) = [layer.settings["rate"] for layer in workload.layers if layer.name == name]
    return {"rate": rate, "losses": _losses(session, LOOKS)}


def _losses(session, steps):
    """Return the loss of the fixed batch at each of so many steps."""
    losses = []
    for _ in range(steps):
        handle = session.step(session.batches[0])
        session.synchronise(handle)
        losses.append(session.loss(handle))
    return losses


def descent_rate(model):
    """Return the learning rate of a model's plain descent, at which the loss falls and rounding stays rounding."""
    return getattr(model, "PARITY_LEARNING_RATE", LEARNING_RATE)


def _start(  # noqa: PLR0913 -- what differs between the sessions of a check
    request, enter, mode, learning_rate=None, dropping=None, *, timed=False, weights=None
):
    """Start a session of a mode, in training without any dropout but the one of the name `dropping`.

    It descends plainly, or as the model says if it is `timed`. It starts from the drawn weights, or from flat
    `weights`.
    """
    builder, _ = process.import_builder(request.builder, enter)
    enter("build")
    maker = definitions.maker(request, builder)
    request = request._replace(mode=mode)
    if mode != "train":  # which one device does
        request = request._replace(gpus=min(request.gpus, 1), cpu_devices=1)
    workload = prepared(request)(maker.OPTIONS)
    if request.network is None and not timed:
        model = model_module(request.model, request.model_file)
        rate = descent_rate(model) if learning_rate is None else learning_rate
        workload.optimizer = optimizers.complete({"name": "sgd", "learning_rate": rate})
    if weights is not None:
        # Copies, because a framework may use the memory as it is and write to it.
        shaped = {
            each.name: weights[each.name].reshape(each.shape).copy()
            for layer in workload.layers
            for each in layer.parameters
        }
        workload.weights = lambda: shaped
    if workload.training:
        # Inference must drop nothing, and the check shows whether that is so.
        workload.layers = tuple(
            layer if layer.name == dropping else _without_dropout(layer) for layer in workload.layers
        )
    workload.batch_count = 1
    devices.require_given(request)
    session = definitions.start(maker, workload)
    devices.require_computing(request, session)
    return session, workload


def _without_dropout(layer):
    return layer._replace(settings={"rate": 0.0}) if layer.kind == "dropout" else layer


def _weights(session, lacking):
    """Return the session's weights as float64 by name, or nothing if they cannot be read."""
    import numpy

    if "weights" in lacking:
        return {}
    return {name: numpy.asarray(value, numpy.float64) for name, value in session.weights().items()}


def _layer(name, shape, parameters):
    return {"name": name, "shape": [int(extent) for extent in shape], "parameters": int(parameters)}
