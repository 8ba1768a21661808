"""The answer to a request whose steps are timed, from the session to the result."""

import time

from benchmarks import MEASUREMENT_VERSION, contract, definitions, devices, precision, process
from benchmarks.errors import Failure
from benchmarks.sampling import conditions, gpus, telemetry
from benchmarks.timing import evaluation, measure
from benchmarks.workload import prepared


def answer(request, enter):
    """Carry out a request of a timed mode, as `benchmarks.modes` describes."""
    result = execute(request, enter)
    steps = sum(block["steps"] for block in result["blocks"])
    return result, "measured %s: %d blocks, %d steps" % (request.cell, len(result["blocks"]), steps)


def execute(request, enter, measuring=measure.measure):
    """Carry out a checked request and return the result as plain values.

    `enter(phase)` is called when a phase begins, and `measuring` measures the session. Raises a `Failure` whose class
    carries the exit code.
    """
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    process.prepare(request)
    # Before a framework is imported, which may bind this thread to one of the CPUs.
    readings = sampler(request)
    devices.require_given(request)
    prepare = prepared(request)
    builder, import_s = process.import_builder(request.builder, enter)

    begin = time.perf_counter()
    enter("build")
    maker = definitions.maker(request, builder)
    work = prepare(maker.OPTIONS)
    with devices.errors_of(request):
        session = definitions.start(maker, work)
        devices.require_computing(request, session)
        _check_parameters(session, work)
        build_s = time.perf_counter() - begin - work.data_s
        products = precision.require_asked(request, work, session)
        peaks = _Peaks(session)
        # One device evaluates, as many samples at once as it trains with.
        share = work.batch_size // work.devices
        evaluator = evaluation.evaluator(session, work.data, share, work.classes, work.loss)
        evaluate = peaks.before(evaluator)
        epoch_steps = work.steps_per_epoch
        measurement = measuring(
            session, request, epoch_steps, peaks.entering(enter), evaluate=evaluate, sampler=readings
        )
        readings.close()
        if measurement.logits is not None:
            work.check_outputs(measurement.logits)
        memory = peaks.read()
    facts = process.facts(request, work, session)
    if products:
        facts["products"] = products
    before = {"import_s": import_s, "data_s": work.data_s, "build_s": build_s}
    return dict(
        _measured(measurement, before),
        schema=contract.SCHEMA,
        measurement_version=MEASUREMENT_VERSION,
        cell=request.cell,
        repeat=request.repeat,
        started_at=started_at,
        model=work.counts(),
        memory=memory,
        used=telemetry.used(),
        facts=facts,
    )


def _measured(measurement, before):
    """Return the raw samples of a measurement, with the seconds of the phases before it."""
    own = ((name, getattr(measurement, name)) for name in ("requests", "generation"))
    samples = {
        "phases": dict(before, **measurement.phases),
        "first_step": measurement.first_step,
        "warmup": measurement.warmup,
        "blocks": measurement.blocks,
        "latency_s": measurement.latency_s,
        "latency_conditions": measurement.latency_conditions,
        "loss": measurement.loss,
        "epochs": measurement.epochs,
    }
    return dict(samples, **{name: value for name, value in own if value is not None})


class _Peaks:
    """The highest use of memory, read once.

    It is read at the end, or before the first evaluation, which is no part of training. A session that can forget its
    highest use of the device does so after the warm-up, in which a framework tries algorithms and takes memory for it.
    """

    def __init__(self, session):
        self._session = session
        self._peaks = None
        self._before = None

    def entering(self, enter):
        """Return the function that is called when a phase begins."""

        def entered(phase):
            if phase == "steady":
                before, reset = self._session.peak_device_bytes(), _reset(self._session)
                self._before = before if reset else None
            enter(phase)

        return entered

    def before(self, evaluate):
        """Return a function that reads first and then evaluates."""

        def reading_first():
            self.read()
            return evaluate()

        return reading_first

    def read(self):
        """Return the highest use at the first call."""
        if self._peaks is None:
            # A GPU that is lost by now takes no finished measurement with it.
            host, device = telemetry.peak_rss_bytes(), devices.answer(self._session.peak_device_bytes)
            self._peaks = {"peak_rss_bytes": host, "peak_device_bytes": device}
            if device is not None and self._before is not None:
                self._peaks.update(peak_device_bytes=max(self._before, device), steady_peak_device_bytes=device)
        return self._peaks


def _reset(session):
    """Have a session forget its highest use of the device. Return false where it cannot."""
    reset = getattr(session, "reset_peak_device_bytes", None)
    return bool(reset and reset())


def sampler(request):
    """Return what reads the conditions around every block of a request."""
    if not request.telemetry:
        return conditions.Unsampled()
    watched = gpus.watched() if request.gpus else None
    # Each device may have a process of its own.
    several = max(request.gpus, request.cpu_devices) > 1
    return conditions.Sampler(gpus=watched, workers=request.workers > 0 or several, stamped=request.gpus > 0)


def _check_parameters(session, workload):
    expected = workload.counts()["parameters"]
    if session.parameters not in (None, expected):
        message = "the framework made %s parameters of a model that has %d"
        raise Failure(message % (session.parameters, expected))
