"""The work that every process does to run a session.

A process prepares itself, imports the builder, and reports facts and failures.
"""

import os
import signal
import sys
import time

from benchmarks import devices, precision
from benchmarks.errors import BadRequest, ImportFailed, NoUsableDevice, Unsupported
from benchmarks.inputs import feeds
from benchmarks.sampling import gpu_settings, telemetry
from benchmarks.vocabulary import losses
from benchmarks.workload import exists

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_PR_SET_PDEATHSIG = 1


def dying_with_this():
    """Return a function that a child calls first, so that it is killed when this process ends for any reason."""
    prctl, parent = _prctl(), os.getpid()  # before the fork, as little may be done between that and exec
    return lambda: _die_with(prctl, parent)


def die_with(parent):
    """Have this process killed when the one that started it, whose id is given, ends for any reason."""
    _die_with(_prctl(), parent)


def _prctl():
    # Imported here, because no measurement needs it.
    import ctypes

    return getattr(ctypes.CDLL(None), "prctl", None)


def _die_with(prctl, parent):
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended already
            os._exit(1)


def prepare(request):
    """Pin the process and set its thread variables, which count only before NumPy and the framework are imported."""
    if request.cpuset:
        try:
            os.sched_setaffinity(0, request.cpuset)
        except OSError as error:
            raise BadRequest("cannot run on CPUs %s: %s" % (request.cpuset, error.strerror)) from None
    if request.threads:
        for name in THREAD_VARIABLES:
            os.environ[name] = str(request.threads)
    precision.set_override(request.options)


def import_builder(name, enter, package="frameworks"):
    """Import a builder and with it its framework. Returns the module and the seconds it took.

    `package` names another kind of what a builder offers, such as `operators`. Raises `BadRequest` if there is no such
    builder, `Unsupported` if it has no such kind, and `ImportFailed` if it cannot be imported.
    """
    if not exists("frameworks", name):
        raise BadRequest("there is no framework builder '%s' in this image" % name)
    if not exists(package, name):
        raise Unsupported("%s offers no %s" % (name, package))
    begin = time.perf_counter()
    enter("import")
    try:
        builder = __import__("benchmarks.%s.%s" % (package, name), fromlist=["start"])
    except (Exception, SystemExit) as error:
        if "libcuda.so" in str(error):
            raise NoUsableDevice("%s needs the library of a GPU driver: %s" % (name, describe(error))) from error
        # Whatever a framework raises while it is imported, the environment is wrong.
        raise ImportFailed("%s cannot be imported: %s" % (name, describe(error))) from error
    return builder, time.perf_counter() - begin


def facts(request, workload, session):
    """Return the facts of the machine, the request and the framework, with None for what the framework omits."""
    unknown = dict.fromkeys(("framework_version", "layout", "precision", "threads", "device"))
    if request.gpus and hasattr(session, "device_in_use"):
        unknown["device"] = devices.answer(session.device_in_use)
    reported = dict(unknown, **reported_facts(request, session))
    combined = dict(_without_framework(request, workload), **reported)
    combined["definition_sha256"] = workload.definition_sha256
    if workload.feed != feeds.PLACED:
        combined.update(feed=workload.feed, workers=workload.workers)
    if workload.axes:
        combined["axes"] = workload.axes
    loss = losses.fact(workload.loss, workload.layers)
    return dict(combined, loss=loss) if loss else combined


def reported_facts(request, session):
    """Return the facts that a session reports, once it was measured.

    Some of them are computed. A GPU may be lost by then, or have no memory left for it. That is no reason to lose the
    measurement, so that the facts are missing, and `unread` says why.
    """
    try:
        with devices.errors_of(request):
            return session.facts()
    except Exception as error:
        if not request.gpus:
            raise
        return {"unread": describe(error)}


def surroundings(request, options):
    """Return the facts of the machine and of a request with all its options.

    On a GPU, these are the settings of its use too, and the version of cuDNN, which is known once a step has loaded it.
    """
    facts = dict(
        telemetry.machine(),
        python=telemetry.python_version(),
        versions=telemetry.versions(sys.path),
        builder=request.builder,
        gpus=telemetry.gpus() if request.gpus else [],
        options=options,
        variables={name: os.environ.get(name) for name in request.variables},
    )
    if not request.gpus:
        return facts
    cudnn = telemetry.cudnn()
    return dict(facts, gpu_settings=gpu_settings.facts(os.environ, sys.modules), **({"cudnn": cudnn} if cudnn else {}))


def _without_framework(request, workload):
    return dict(
        surroundings(request, workload.options),
        model_sha256=workload.model_sha256,
        **({"network": workload.fed_sha256} if workload.network else {}),
        optimizer=workload.optimizer,
        threads_asked=request.threads,
        data=dict(
            workload.data.facts(), batches=workload.batch_count, samples=workload.batch_count * workload.batch_size
        ),
    )


def describe(error):
    """Return an exception as one line, with its type and the first line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "%s: %s" % (type(error).__name__, lines[0][:300]) if lines else type(error).__name__
