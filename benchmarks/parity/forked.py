"""Work in forked processes, because some frameworks keep state between two models of one process."""

import json
import os
import signal
import sys
import traceback

from benchmarks import devices, errors, process
from benchmarks.errors import Failure


def in_a_process(work, request, enter):
    """Return what `work(request, enter)` returns in a forked process. Raises the `Failure` that it raises."""
    return in_processes([work], request, enter, 1)[0]


def in_processes(works, request, enter, at_once):
    """Return what each of the works returns in a forked process of its own, so many of them at once.

    Raises the first `Failure` in the order of the works, and ends those that still run.
    """
    waiting = list(works)
    running = []
    answers = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(_started(waiting.pop(0), request, enter))
            answers.append(_answer(*running.pop(0)))
    finally:
        for child, pipe in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pipe.close()
    return answers


def _started(work, request, enter):
    """Fork a process that does a work; return its id and the pipe of its answer."""
    reading, writing = os.pipe()
    bind = process.dying_with_this()
    child = os.fork()
    if child == 0:
        bind()
        _report_and_end(writing, work, request, enter)
    os.close(writing)
    return child, os.fdopen(reading)


def _answer(child, pipe):
    """Wait for a forked process and return the result of its work."""
    with pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer or status:
        how = "by signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "with %d" % os.WEXITSTATUS(status)
        raise Failure("the process of a parity session ended %s" % how)
    outcome = json.loads(answer)
    if "failure" in outcome:
        raise getattr(errors, outcome["failure"])(outcome["reason"])
    return outcome["result"]


def _report_and_end(writing, work, request, enter):
    """Write the outcome as JSON and end in any case.

    The rest of the program belongs to the parent process.
    """
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
    """Return the result of a forked process, or the class and the message of its `Failure`."""
    try:
        with devices.errors_of(request):
            return {"result": work(request, enter)}
    except Failure as failure:
        if failure.__cause__:
            traceback.print_exc()
        return {"failure": type(failure).__name__, "reason": str(failure)}
    except Exception as error:
        traceback.print_exc()
        return {"failure": "Failure", "reason": process.describe(error)}
