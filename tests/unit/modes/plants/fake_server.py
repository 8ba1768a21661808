"""A fake engine for tests, whose steps sleep for known times and compute nothing."""

import time

import numpy

OPTIONS = {"step_ms": 4, "stall_ms": 0}
OFFERS = ("layer dense", "layer relu", "layer dropout")
STALLS_AT = 60
"""The step that stalls, after the warm-up of the matrix."""


def start(workload):
    """Return a session that sleeps."""
    return _Session(workload)


class _Session:
    short_blocks = True
    parameters = None

    def __init__(self, workload):
        self._options, self._steps = workload.options, 0
        self._logits = numpy.zeros((workload.batch_size, workload.classes), numpy.float32)
        self.batches = [inputs for inputs, _ in workload.batches()]

    def step(self, _inputs):
        """Sleep, once for longer."""
        self._steps += 1
        stalls = self._options["stall_ms"] and self._steps == STALLS_AT
        time.sleep((self._options["stall_ms"] if stalls else self._options["step_ms"]) / 1e3)
        return self._logits

    def synchronise(self, _handle):
        """Wait for nothing."""

    def fetch(self, handle):
        """Return the logits."""
        return handle

    def facts(self):
        """Return facts."""
        return {"framework_version": "1", "device": "cpu", "precision": "float32"}

    def peak_device_bytes(self):
        """Return None."""
