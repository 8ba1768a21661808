"""Single operators, each call synchronised, whose outputs are compared with NumPy in float64.

The operator is the request's `model`, and its size is among the `axes`. Inputs are drawn anew for each seed and placed
before any clock is read. Then come some tries, each timed by itself. The tries of a seed are a block.
"""

import time

from benchmarks import MEASUREMENT_VERSION, contract, devices, operators, process
from benchmarks.errors import BadRequest, Diverged, Failure
from benchmarks.operators import definitions
from benchmarks.parity.tensors import tensor
from benchmarks.sampling import telemetry
from benchmarks.timing import timed
from benchmarks.timing.measure import SYSTEM_CLOCK, percentile
from benchmarks.workload import merge_options

AXES = {"size": 500, "seeds": 20, "tries": 5}


def answer(request, enter):
    """Measure one operator of one size."""
    result = execute(request, enter)
    return result, "measured %s: %d calls" % (request.cell, len(result["latency_s"]))


def execute(request, enter, clock=SYSTEM_CLOCK):
    """Carry out a checked request and return the result as plain values."""
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    process.prepare(request)
    sampler = timed.sampler(request)
    operator = definitions.named(request.model)
    size, seeds, tries = _axes(request)
    devices.require_given(request)
    builder, import_s = process.import_builder(request.builder, enter, package="operators")
    enter("build")
    begin = clock.wall()
    options = merge_options(builder.OPTIONS, request.options, request.builder)
    with devices.errors_of(request):
        session = builder.start(operators.Settings(options, request.threads, request.gpus))
        devices.require_computing(request, session)
        calls = _Calls(session, operator, request, clock, sampler)
        build_s = clock.wall() - begin
        enter("first_step")
        calls.place(size, request.seed)
        first_step = calls.block(1)
        enter("warmup")
        warmup = calls.block(request.warmup_steps)
        enter("steady")
        begin = clock.wall()
        blocks = [calls.of_seed(size, request.seed + number, tries) for number in range(seeds)]
        steady_s = clock.wall() - begin
    sampler.close()
    return {
        "schema": contract.SCHEMA,
        "measurement_version": MEASUREMENT_VERSION,
        "cell": request.cell,
        "repeat": request.repeat,
        "started_at": started_at,
        "phases": {
            "import_s": import_s, "data_s": calls.data_s, "build_s": build_s, "first_step_s": first_step["wall_s"],
            "warmup_s": warmup["wall_s"], "steady_s": steady_s, "latency_s": 0.0,
        },
        "first_step": first_step,
        "warmup": [warmup],
        "blocks": blocks,
        "latency_s": calls.latency_s,
        "loss": None,
        "epochs": [],
        "model": {"parameters": 0, "multiply_adds": operator.multiply_adds(size)},
        "memory": {
            "peak_rss_bytes": telemetry.peak_rss_bytes(),
            "peak_device_bytes": devices.answer(session.peak_device_bytes),
        },
        "used": telemetry.used(),
        "outputs": calls.outputs(),
        "facts": dict(
            process.surroundings(request, options), threads_asked=request.threads,
            **process.reported_facts(request, session)
        ),
    }  # fmt: skip


def lines(request, result):
    """Yield the result for people."""
    calls, outputs = result["latency_s"], result["outputs"]
    yield "axes        " + ", ".join("%s %d" % (name, request.axes[name]) for name in AXES)
    shown = tuple(1e6 * percentile(calls, share) for share in (0.5, 0.9, 0.99))
    yield "latency     p50 %.1f us, p90 %.1f us, p99 %.1f us (every call synchronised)" % shown
    if outputs:
        yield "error       %.3g of the scale of the output, beside NumPy in float64" % outputs["error"]


def _axes(request):
    """Return the size, the seeds and the tries. Raises `BadRequest` unless each is a whole number of at least 1."""
    for name in AXES:
        value = request.axes.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadRequest("bad request: the mode 'ops' takes a whole number '%s' of at least 1 in 'axes'" % name)
    unknown = sorted(set(request.axes) - set(AXES))
    if unknown:
        raise BadRequest("bad request: the mode 'ops' has no axis '%s'" % unknown[0])
    return [request.axes[name] for name in AXES]


class _Calls:
    """Calls of one operator, their times, and how far their outputs are from the reference."""

    def __init__(self, session, operator, request, clock, sampler):
        self._session, self._operator, self._name = session, operator, request.model
        self._call = session.call(request.model)
        self._clock, self._sampler = clock, sampler
        self._drawn, self._placed, self._output = [], [], None
        self._first = None
        self._error = 0.0
        self.data_s = 0.0
        self.latency_s = []

    def place(self, size, seed):
        """Draw the inputs of a seed, and put them where the operator takes them."""
        begin = self._clock.wall()
        self._drawn = definitions.inputs(self._operator, size, seed)
        self._placed = [self._taken(kind, array) for kind, array in zip(self._operator.takes, self._drawn)]
        self.data_s += self._clock.wall() - begin

    def _taken(self, kind, array):
        if kind == "array":
            return array
        if kind == "list":
            return array.tolist()
        placed = self._session.placed(array)
        self._session.synchronise(placed)
        return placed

    def block(self, steps):
        """Time this many calls one by one, each with its synchronisation. Returns them as a block."""
        seconds, block = self._timed(steps)
        del seconds
        return block

    def of_seed(self, size, seed, tries):
        """Time the calls with the inputs of a seed, keep their times, and compare the last output."""
        self.place(size, seed)
        seconds, block = self._timed(tries)
        self.latency_s += seconds
        self._compare()
        return block

    def _timed(self, steps):
        call, inputs, synchronise = self._call, self._placed, self._session.synchronise
        wall, cpu = self._clock
        seconds, handle = [0.0] * steps, None
        self._sampler.begin()
        cpu_begin = cpu()
        for number in range(steps):
            handle = None  # an output is let go before the next call
            begin = wall()
            handle = call(*inputs)
            synchronise(handle)
            seconds[number] = wall() - begin
        cpu_end = cpu()
        conditions = self._sampler.end()
        self._output = handle
        block = {"steps": steps, "samples": steps, "wall_s": sum(seconds), "cpu_s": cpu_end - cpu_begin}
        return seconds, dict(block, conditions=conditions) if conditions else block

    def _compare(self):
        import numpy

        output = self._session.fetch(self._output)
        if output is None:
            return
        wide = [array.astype(numpy.float64) for array in self._drawn]
        reference = numpy.asarray(self._operator.reference(*wide)).ravel()
        scale = self._operator.scale(self._operator, wide)
        values = numpy.asarray(output, numpy.float64).ravel()
        if values.shape != reference.shape:
            raise Failure("%s yields %d values, not %d" % (self._name, values.size, reference.size))
        if not numpy.isfinite(values).all():
            raise Diverged("the output of %s is not all finite" % self._name)
        self._error = max(self._error, definitions.norm(values - reference) / (scale or 1.0))
        if self._first is None:
            self._first = dict(tensor(values), elements=int(values.size), scale=float("%.9g" % scale))

    def outputs(self):
        """Return the output of the first seed, and the largest error of any; None if nothing is computed."""
        return dict(self._first, error=float("%.9g" % self._error)) if self._first else None
