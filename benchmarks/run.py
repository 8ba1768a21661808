"""Entry of the container: `python -m benchmarks.run`, with `--io DIR` for the harness, or by hand.

Exit status: 0 measured, 3 unsupported, 4 import failed, 5 bad request, 6 device out of memory, 1 any other failure.
Where it is not 0, the last line on stderr is one sentence that says why.
"""

import os
import sys
import time

from benchmarks import MEASUREMENT_VERSION, conditions, contract, counting, evaluation, measure, telemetry
from benchmarks.errors import BadRequest, DeviceOutOfMemory, Diverged, Failure, ImportFailed
from benchmarks.workload import Workload, exists, model_module

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_DEVICE_MEMORY = (
    "out of memory",
    "OOM when allocating",
    "ResourceExhausted",
    "cudaMalloc failed",
    "ALLOC_FAILED",
    "CUDA_ERROR_OUT_OF_MEMORY",
)


def execute(request, enter):
    """Carry out a checked request: the result as plain values; `enter(phase)` is called where a phase begins.

    Raises a `Failure` whose class carries the exit code.
    """
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    _prepare_process(request)
    # Before a framework is imported, which may bind this thread to one of the CPUs.
    sampler = conditions.Sampler() if request.telemetry else conditions.Unsampled()
    model = model_module(request.model, request.model_file)
    builder, import_s = _import_builder(request.builder, enter)

    begin = time.perf_counter()
    enter("build")
    workload = Workload(request, model, builder.OPTIONS)
    try:
        session = builder.start(workload)
        _check_parameters(session, workload)
        build_s = time.perf_counter() - begin - workload.data_s
        evaluate = evaluation.evaluator(session, workload.data, workload.batch_size, workload.classes)
        epoch_steps = workload.steps_per_epoch
        taken = measure.measure(session, request, epoch_steps, enter, evaluate=evaluate, sampler=sampler)
        sampler.close()
        _check_logits(taken.logits, workload)
        peak_device_bytes = session.peak_device_bytes()
    except Exception as error:
        if request.gpus and _is_device_memory(error):
            message = "the device ran out of memory at batch size %d" % request.batch_size
            raise DeviceOutOfMemory(message) from error
        raise
    facts = dict(_facts(request, workload), **session.facts())
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
        "memory": {"peak_rss_bytes": telemetry.peak_rss_bytes(), "peak_device_bytes": peak_device_bytes},
        "facts": facts,
    }


def _prepare_process(request):
    """Pin the process and set its thread variables: both only count before NumPy and the framework are imported."""
    if request.cpuset:
        try:
            os.sched_setaffinity(0, request.cpuset)
        except OSError as error:
            raise BadRequest("cannot run on CPUs %s: %s" % (request.cpuset, error.strerror)) from None
    if request.threads:
        for name in THREAD_VARIABLES:
            os.environ[name] = str(request.threads)
    # The workloads are float32; without this, NVIDIA's libraries may round their products to TF32.
    os.environ["NVIDIA_TF32_OVERRIDE"] = "0"


def _import_builder(name, enter):
    """Import a builder and with it its framework; return the module and the seconds it took."""
    if not exists("frameworks", name):
        raise BadRequest("there is no framework builder '%s' in this image" % name)
    begin = time.perf_counter()
    enter("import")
    try:
        builder = __import__("benchmarks.frameworks." + name, fromlist=["start"])
    except Exception as error:
        # Whatever a framework raises while it is imported, it is the environment that is wrong.
        raise ImportFailed("%s cannot be imported: %s" % (name, describe(error))) from error
    return builder, time.perf_counter() - begin


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


def _is_device_memory(error):
    """Frameworks share no class for it, and old ones have none at all: the message tells."""
    text = "%s: %s" % (type(error).__name__, error)
    return any(sign in text for sign in _DEVICE_MEMORY)


def _facts(request, workload):
    return dict(
        telemetry.machine(),
        python=telemetry.python_version(),
        versions=telemetry.versions(sys.path),
        builder=request.builder,
        gpus=telemetry.gpus() if request.gpus else [],
        options=workload.options,
        variables={name: os.environ.get(name) for name in request.variables},
        model_sha256=workload.model_sha256,
        optimizer=workload.optimizer,
        threads_asked=request.threads,
        data=dict(
            workload.data.facts(), batches=workload.batch_count, samples=workload.batch_count * workload.batch_size
        ),
    )


def describe(error):
    """An exception as one line: its type and the first line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "%s: %s" % (type(error).__name__, lines[0][:300]) if lines else type(error).__name__


def harness(folder):
    """Answer `request.json` in a folder with `result.json`, telling in `phase` how far it is."""
    request = contract.read_request(folder)
    result = execute(request, lambda phase: contract.write_atomically(folder, "phase", phase + "\n"))
    contract.write_atomically(folder, "result.json", contract.result_text(result))
    steps = sum(block["steps"] for block in result["blocks"])
    print("measured %s: %d blocks, %d steps" % (request.cell, len(result["blocks"]), steps))


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
    except Exception as error:
        return _say(error, describe(error), 1)
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
