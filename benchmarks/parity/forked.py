"""Work in forked processes, because some frameworks keep state between two models of one process."""

import json
import os
import sys
import traceback

from benchmarks import errors, process
from benchmarks.errors import Failure


def in_a_process(work, request, enter):
    """Return what `work(request, enter)` returns in a forked process. Raises the `Failure` that it raises."""
    reading, writing = os.pipe()
    bind = process.dying_with_this()
    child = os.fork()
    if child == 0:
        bind()
        _report_and_end(writing, work, request, enter)
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
        with process.device_memory(request):
            return {"result": work(request, enter)}
    except Failure as failure:
        if failure.__cause__:
            traceback.print_exc()
        return {"failure": type(failure).__name__, "reason": str(failure)}
    except Exception as error:
        traceback.print_exc()
        return {"failure": "Failure", "reason": process.describe(error)}
