"""Entry of the container: `python -m benchmarks.run`, with `--io DIR` for the harness, or by hand.

Exit status: 0 measured, 3 unsupported, 4 import failed, 5 bad request, 6 device out of memory, 7 not the work that was
asked for (a loss that is no number, other parameters than counted), 1 a crash.
Where it is not 0, the last line on stderr is one sentence that says why.
"""

import os
import sys
import time

from benchmarks import MEASUREMENT_VERSION, contract, definitions, evaluation, measure, process
from benchmarks.errors import Diverged, Failure
from benchmarks.sampling import conditions, gpus, telemetry
from benchmarks.vocabulary import counting
from benchmarks.workload import Workload, model_module


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
    workload = Workload(request, model, maker.OPTIONS)
    with process.device_memory(request):
        session = maker.start(workload)
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


def harness(folder):
    """Answer `request.json` in a folder with `result.json`, telling in `phase` how far it is."""
    request = contract.read_request(folder)

    def enter(phase):
        contract.write_atomically(folder, "phase", phase + "\n")

    if request.mode == "parity":
        from benchmarks.parity import check as parity

        result = parity.check(request, enter)
        said = "checked %s: %d tensors" % (request.cell, len(result["gradients"]))
    elif request.mode == "script":
        from benchmarks import script

        process.prepare(request)
        result = script.execute(request, enter)
        said = "ran %s" % request.cell
    else:
        result = execute(request, enter)
        steps = sum(block["steps"] for block in result["blocks"])
        said = "measured %s: %d blocks, %d steps" % (request.cell, len(result["blocks"]), steps)
    contract.write_atomically(folder, "result.json", contract.result_text(result))
    print(said)


def main(arguments):
    """Run with command-line arguments; returns the exit code, after saying on stderr why it is not 0."""
    try:
        if len(arguments) == 2 and arguments[0] == "--io":
            harness(arguments[1])
        else:
            from benchmarks import by_hand

            by_hand.main(arguments, execute)
    except Failure as failure:
        return _say(failure, str(failure), failure.exit_code)
    except SystemExit as error:
        if arguments[:1] != ["--io"]:  # as `--help` ends by hand
            raise
        return _say(error, process.describe(error), 1)
    except Exception as error:
        return _say(error, process.describe(error), 1)
    return 0


def _say(error, reason, exit_code):
    if not isinstance(error, Failure) or error.__cause__:
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.write(reason.replace("\n", " ") + "\n")
    return exit_code


def _leave(exit_code):
    """End at once: what frameworks print or crash on while they are torn down is no part of a measurement."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
