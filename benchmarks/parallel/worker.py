"""The process of another device than the first: `python -m benchmarks.parallel.worker REPLIES TROUBLE PARENT`.

It reads its part of the work from stdin, and then commands as `benchmarks.parallel.processes` has them, until that
ends. Nothing that fails here is printed here: the last line on stderr belongs to the first process, which is told.
"""

import json
import os
import pickle
import sys
import traceback

from benchmarks import devices, process
from benchmarks.errors import Failure
from benchmarks.parallel import processes


def main(replies, trouble, parent):
    """Train on one device as the first process tells."""
    process.die_with(parent)
    try:
        share, number, folder = pickle.load(sys.stdin.buffer)
        with devices.errors_of(share):
            _serve(share, number, folder, replies)
    except Failure as failure:
        _tell(trouble, failure.exit_code, str(failure), traceback.format_exc() if failure.__cause__ else "")
    except BaseException as error:
        _tell(trouble, 1, process.describe(error), traceback.format_exc())
    os._exit(0)


def _serve(share, number, folder, replies):
    builder, _ = process.import_builder(share.builder, lambda _phase: None)
    session = builder.replica(share, number, folder)
    devices.require_computing(share, session)
    device = session.device_in_use()
    handle = None
    answers = {
        processes.LOSS: lambda: session.loss(handle),
        processes.PEAK: session.peak_device_bytes,
        processes.DEVICE: lambda: device,
        processes.RESET: session.reset_peak_device_bytes,
    }
    while True:
        command = sys.stdin.buffer.read(processes.COMMAND.size)
        if not command:
            return
        (command,) = processes.COMMAND.unpack(command)
        if command >= 0:
            handle = session.step(session.batches[command])
        elif command == processes.SYNCHRONISE:
            session.synchronise(handle)
            _reply(replies, None)
        else:
            _reply(replies, answers[command]())


def _reply(replies, answer):
    os.write(replies, json.dumps(answer).encode() + b"\n")


def _tell(trouble, exit_code, reason, trace):
    """Tell the first process, and stay until it has ended, because it would hear of a closed connection first."""
    try:
        os.write(trouble, json.dumps([exit_code, reason, trace[-30000:]]).encode())
        os.close(trouble)
        sys.stdin.buffer.read()
    except OSError:
        pass  # it has ended already


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
