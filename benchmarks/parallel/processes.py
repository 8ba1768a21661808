"""A session on several devices of a framework that has a process for each.

This process trains on the first device, and tells the others of each step by a few bytes through a pipe. So a block or
a latency pass may have any number of steps, and all devices take the same ones. Whatever else a session is asked for,
such as weights, the first device answers.
"""

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

from benchmarks import parallel
from benchmarks.workload import ModelWorkload

COMMAND = struct.Struct("<i")
"""A command is the number of a batch, whose step is to be done, or one of the negative numbers."""
SYNCHRONISE, LOSS, PEAK, DEVICE, RESET = -1, -2, -3, -4, -5
_LAST_WORDS_S = 60.0
"""Longest wait for the reason of a process that has ended."""
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Share(ModelWorkload):
    """The part of a workload that one device does, which a builder takes as it takes a workload.

    It can be sent to another process, because it holds its data and weights.
    """

    def __init__(self, workload, number, drawn):
        own = {name: value for name, value in vars(workload).items() if name not in ("data", "weights")}
        self.__dict__.update(own, batch_size=workload.batch_size // workload.devices, data_s=0.0)
        # Else all devices would drop the same values of their parts.
        self.seed = workload.seed + number
        self._weights = workload.weights()
        self._batches = [parallel.part(workload, *batch, number=number) for batch in drawn]

    def batches(self):
        """Yield the parts of the batches. The time until the last one is placed goes to `data_s`."""
        begin = time.perf_counter()
        yield from self._batches
        self.data_s += time.perf_counter() - begin

    def weights(self):
        """Return the initial weights."""
        return self._weights


def start(workload, replica):
    """Start a process for each device but the first. Return a session that trains on all of them.

    `replica(share, number, folder)` makes the session of one device, once all of them have met in an empty folder.
    """
    drawn = list(workload.batches())
    folder = tempfile.mkdtemp(prefix="parallel-")
    workers = [_Worker(Share(workload, number, drawn), number, folder) for number in range(1, workload.devices)]
    share = Share(workload, 0, drawn)
    own = replica(share, 0, folder)
    workload.data_s += share.data_s
    session = _Session(own, workers, workload)
    shutil.rmtree(folder, ignore_errors=True)
    return session


class _Worker:
    """A process that trains on another device than the first. It ends with this one."""

    def __init__(self, share, number, folder):
        reply, replying = os.pipe()
        trouble, troubling = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.parallel.worker", str(replying), str(troubling), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=2,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join([_ROOT] + _paths())),
            pass_fds=(replying, troubling),
        )
        os.close(replying)
        os.close(troubling)
        self._replies = os.fdopen(reply, "rb")
        self._watcher = threading.Thread(target=_end_in_trouble, args=(trouble, number), daemon=True)
        self._watcher.start()
        try:
            pickle.dump((share, number, folder), self._process.stdin, protocol=4)
            self._process.stdin.flush()
        except BrokenPipeError:
            self.await_end()
        self.descriptor = self._process.stdin.fileno()

    def answer(self):
        """Return what the process answers to a question."""
        line = self._replies.readline()
        if not line:
            self.await_end()
        return json.loads(line.decode())

    def await_end(self):
        """Wait until the thread that watches the process ends this one too, with the reason that it was told."""
        self._process.wait()
        self._watcher.join(_LAST_WORDS_S)
        raise RuntimeError("the process of another device ended")


def _paths():
    return [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _ROOT]


def _end_in_trouble(trouble, number):
    """End this process as that of another device does.

    This one may wait for the other for ever inside the framework, so that an exception would not be heard.
    """
    with os.fdopen(trouble, "rb") as pipe:
        told = pipe.read()
    exit_code, reason, trace = json.loads(told.decode()) if told else (1, "its process ended without a word", "")
    sys.stdout.flush()
    sys.stderr.write("%sdevice %d: %s\n" % (trace, number, reason.replace("\n", " ")))
    sys.stderr.flush()
    os._exit(exit_code)


class _Session:
    """A session on all devices, in the form of `benchmarks.frameworks`."""

    short_blocks = False

    def __init__(self, own, workers, workload):
        self._own, self._workers, self._workload = own, workers, workload
        self.batches = tuple(enumerate(own.batches))
        self.parameters = own.parameters
        self.weights, self.native_layers, self.predict = own.weights, own.native_layers, own.predict
        self.device_in_use = own.device_in_use
        self.step = self._step_on_all()
        self._names = [own.device_in_use()] + self._ask(DEVICE)

    def _step_on_all(self):
        own_step, write, workers = self._own.step, os.write, [(each, each.descriptor) for each in self._workers]
        commands = [COMMAND.pack(number) for number, _ in self.batches]

        def step(numbered):
            number, batch = numbered
            command = commands[number]
            for worker, descriptor in workers:
                try:
                    write(descriptor, command)
                except BrokenPipeError:
                    worker.await_end()
            return own_step(batch)

        return step

    def devices_in_use(self):
        """Return the device of a tensor that each process has computed."""
        return self._names

    def synchronise(self, handle):
        """Wait for every device."""
        self._tell(SYNCHRONISE)
        self._own.synchronise(handle)
        self._answers()

    def loss(self, handle):
        """Return the mean over the batch of the last step, of which each device has the mean over its part."""
        losses = [self._own.loss(handle)] + self._ask(LOSS)
        return sum(losses) / len(losses)

    def product(self, left, right):
        """Return the product of two NumPy matrices on the first device."""
        return self._own.product(left, right)

    def peak_device_bytes(self):
        """Return the highest of all devices."""
        peaks = [self._own.peak_device_bytes()] + self._ask(PEAK)
        return None if None in peaks else max(peaks)

    def reset_peak_device_bytes(self):
        """Have every device count its highest use anew. Return whether all can."""
        return all([self._own.reset_peak_device_bytes()] + self._ask(RESET))

    def facts(self):
        """Return the facts of the first device, and those of all of them. Threads are those of all processes."""
        own = self._own.facts()
        shared = parallel.facts(self._workload, self._names, self._own.averaging, "of the first device")
        return dict(own, threads=own["threads"] and own["threads"] * len(self._names), parallel=shared)

    def _tell(self, command):
        for worker in self._workers:
            try:
                os.write(worker.descriptor, COMMAND.pack(command))
            except BrokenPipeError:
                worker.await_end()

    def _answers(self):
        return [worker.answer() for worker in self._workers]

    def _ask(self, command):
        self._tell(command)
        return self._answers()
