"""The search for the largest batch that fits the memory of a GPU.

Each size is tried in a process of its own, as what a framework has allocated, cached or lost in one try would decide on
the next. This process never touches the device.
"""

import json
import os
import shutil
import subprocess
import sys
import time

from benchmarks import contract, modes, process
from benchmarks.errors import DeviceOutOfMemory, Failure

GAP_PERCENT = 1
"""The search ends when the smallest size refused is at most so much above the largest one that fits."""
FOLDER = "try"
_SHORT = {"warmup_steps": 1, "steps": 2, "epochs": None, "min_blocks": 1, "min_block_s": 0, "latency_steps": 0}
"""A try shows that steps fit, and not how long they take."""


def answer(request, folder, enter):
    """Search for the largest batch of a request, which lies in a folder.

    Returns the result of the largest try that fitted, with the search in it, and a line that says what was done. Raises
    `DeviceOutOfMemory` if not even the smallest batch fits, and a `Failure` if a try fails for another reason.
    """
    enter("search")
    tries = _Tries(request, folder)
    fits, refused = search(tries.fits, request.batch_size, tries.unit, tries.most)
    if not fits:
        raise DeviceOutOfMemory("the device ran out of memory at batch size %d" % refused)
    found = {"fits": fits, "refused": refused, "tries": tries.done}
    if refused is None:
        found["bounded_by"] = tries.samples
    return dict(tries.results[fits], largest_batch=found), "largest batch of %s: %d" % (request.cell, fits)


def search(fits, start, unit, most):
    """Return the largest size found for which `fits(size)` holds, and the smallest for which it does not.

    Sizes are multiples of `unit`. From `start` they are doubled or halved until the limit lies between two of them, and
    then the gap is bisected. `most()` is the largest size there is, which is asked once a size has fitted: if that fits
    too, nothing was refused, and the second value is None. If nothing fits, the first one is 0.
    """
    fitting, refused, size = 0, None, start
    while not fitting or refused is None:
        if fits(size):
            fitting = size
            if size >= most():
                return fitting, None
            size = min(2 * size, most())
        else:
            refused = size
            if size <= unit:
                return 0, refused
            size = max(unit, size // (2 * unit) * unit)
    while refused - fitting > max(unit, fitting * GAP_PERCENT // 100):
        size = (fitting + refused) // (2 * unit) * unit
        if fits(size):
            fitting = size
        else:
            refused = size
    return fitting, refused


class _Tries:
    """The tries of one search, each with its process."""

    def __init__(self, request, folder):
        self._request = request
        self._folder = os.path.join(folder, FOLDER)
        # Only training is shared by devices, each of which takes an equal part.
        self.unit = max(1, request.gpus) if modes.named(request.mode).TRAINS else 1
        self.samples = None
        self.results = {}
        self.done = []

    def most(self):
        """Return the largest batch that the samples of the dataset fill."""
        return self.samples // self.unit * self.unit

    def fits(self, size):
        """Try a size. Raises a `Failure` if it fails for another reason than the memory of the device."""
        begin = time.perf_counter()
        os.makedirs(self._folder)
        try:
            self._write_request(size)
            exit_code, reason = _ended(self._folder)
            result = _fitted(self._result()) if exit_code == 0 else None
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        if exit_code not in (0, DeviceOutOfMemory.exit_code):
            raise _failure("at batch size %d: %s" % (size, reason), exit_code)
        wall_s = time.perf_counter() - begin
        self.done.append({"batch_size": size, "fits": result is not None, "wall_s": wall_s})
        if result is not None:
            self.results[size] = result
            self.samples = result["facts"]["data"]["training"]
            self.done[-1]["peak_device_bytes"] = result["memory"]["peak_device_bytes"]
        print("batch size %d: %s, %.1f s" % (size, "fits" if result else "out of memory", wall_s))
        sys.stdout.flush()
        return result is not None

    def _write_request(self, size):
        files = {name: getattr(self._request, name) for name in ("model_file", "definition_file")}
        for path in filter(None, files.values()):
            shutil.copy(path, self._folder)
        names = {name: path and os.path.basename(path) for name, path in files.items()}
        document = dict(self._request._asdict(), largest_batch=False, batch_size=size, **dict(_SHORT, **names))
        contract.write_atomically(self._folder, "request.json", json.dumps(document))

    def _result(self):
        try:
            with open(os.path.join(self._folder, "result.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise Failure("a try left no result: %s" % process.describe(error)) from error


def _fitted(result):
    """Return the result of a try, or None if its steps left no memory for the facts of its session."""
    return None if DeviceOutOfMemory.__name__ in result["facts"].get("unread", "") else result


def _ended(folder):
    """Run the request in a folder to its end. Returns the exit status, and the last line on stderr."""
    with open(os.path.join(folder, "stderr.txt"), "w+b") as errors:
        # A file, as a pipe would stay open as long as any process that the try has left behind.
        command = [sys.executable, "-m", "benchmarks.run", "--io", folder]
        bind = process.dying_with_this()
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=bind,  # noqa: PLW1509 -- there are no threads
        )
        exit_code = child.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    sys.stderr.write(said)
    sys.stderr.flush()
    lines = said.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing was said")
    return exit_code, last if exit_code > 0 else "killed by signal %d" % -exit_code


def _failure(reason, exit_code):
    """Return a failure with the exit status of a try, or that of a crash if a signal has ended it."""
    failure = Failure(reason)
    failure.exit_code = max(1, exit_code)
    return failure
