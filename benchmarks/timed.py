"""Carry out a request whose steps are timed: build a session, measure it, and say what it was."""

import time

from benchmarks import MEASUREMENT_VERSION, contract, definitions, evaluation, measure, process
from benchmarks.errors import Diverged, Failure
from benchmarks.sampling import conditions, gpus, telemetry
from benchmarks.vocabulary import counting
from benchmarks.workload import ModelWorkload, model_module


def answer(request, enter):
    """Carry out a request of a timed mode, as `benchmarks.modes` describes."""
    result = execute(request, enter)
    steps = sum(block["steps"] for block in result["blocks"])
    return result, "measured %s: %d blocks, %d steps" % (request.cell, len(result["blocks"]), steps)


def execute(request, enter):
    """Carry out a checked request: the result as plain values; `enter(phase)` is called where a phase begins.

    Raises a `Failure` whose class carries the exit code.
    """
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    process.prepare(request)
    # Before a framework is imported, which may bind this thread to one of the CPUs.
    sampler = _sampler(request)
    model = model_module(request.model, request.model_file)
    builder, import_s = process.import_builder(request.builder, enter)

    begin = time.perf_counter()
    enter("build")
    maker = definitions.maker(request, builder)
    workload = ModelWorkload(request, model, maker.OPTIONS)
    with process.device_memory(request):
        session = definitions.start(maker, workload)
        _check_parameters(session, workload)
        build_s = time.perf_counter() - begin - workload.data_s
        peaks = _Peaks(session)
        evaluator = evaluation.evaluator(session, workload.data, workload.batch_size, workload.classes)
        evaluate = peaks.before(evaluator)
        epoch_steps = workload.steps_per_epoch
        taken = measure.measure(session, request, epoch_steps, enter, evaluate=evaluate, sampler=sampler)
        sampler.close()
        _check_logits(taken.logits, workload)
        memory = peaks.read()
    facts = process.facts(request, workload, session)
    return {
        "schema": contract.SCHEMA,
        "measurement_version": MEASUREMENT_VERSION,
        "cell": request.cell,
        "repeat": request.repeat,
        "started_at": started_at,
        "phases": dict({"import_s": import_s, "data_s": workload.data_s, "build_s": build_s}, **taken.phases),
        "first_step": taken.first_step,
        "warmup": taken.warmup,
        "blocks": taken.blocks,
        "latency_s": taken.latency_s,
        "latency_conditions": taken.latency_conditions,
        "loss": taken.loss,
        "epochs": taken.epochs,
        "model": {
            "parameters": counting.parameters(workload.layers),
            "multiply_adds": counting.multiply_adds(workload.layers),
        },
        "memory": memory,
        "used": telemetry.used(),
        "facts": facts,
    }


class _Peaks:
    """Highest use of memory, read once: at the end, or before the first evaluation, which is no part of training."""

    def __init__(self, session):
        self._session = session
        self._found = None

    def before(self, evaluate):
        """Return what reads first and then evaluates."""

        def reading_first():
            self.read()
            return evaluate()

        return reading_first

    def read(self):
        """What it was when this was called first."""
        if self._found is None:
            peaks = telemetry.peak_rss_bytes(), self._session.peak_device_bytes()
            self._found = dict(zip(("peak_rss_bytes", "peak_device_bytes"), peaks))
        return self._found


def _sampler(request):
    if not request.telemetry:
        return conditions.Unsampled()
    return conditions.Sampler(gpus=gpus.watched() if request.gpus else None)


def _check_parameters(session, workload):
    expected = counting.parameters(workload.layers)
    if session.parameters not in (None, expected):
        message = "the framework made %s parameters of a model that has %d"
        raise Failure(message % (session.parameters, expected))


def _check_logits(logits, workload):
    """What inference yielded last, where it yields anything: one finite value per sample and class."""
    if logits is None:
        return
    import numpy

    logits, expected = numpy.asarray(logits), (workload.batch_size, workload.classes)
    if logits.shape != expected:
        raise Failure("the last logits have the shape %s, not %s" % (logits.shape, expected))
    if not numpy.isfinite(logits).all():
        raise Diverged("the last logits are not all finite: what diverged is no measurement")
