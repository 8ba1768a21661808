"""Training, whose step runs forward and backward and updates the weights by the optimizer."""

import math

from benchmarks.errors import Diverged
from benchmarks.timing import timed

TRAINS = True


def answer(request, enter):
    """Measure training."""
    return timed.answer(request, enter)


class TrainingTiming:
    """A training session as it is timed."""

    evaluates = True

    def __init__(self, session):
        self._session = session
        self.finish = session.synchronise

    def loss(self, handle, when):
        """Return the loss of a step. Raises `Diverged` if it is not finite."""
        loss = self._session.loss(handle)
        if not math.isfinite(loss):
            raise Diverged("the loss is %s %s: what diverged is no measurement" % (loss, when))
        return loss

    @staticmethod
    def outputs(_handle):
        """Return None, because a training step yields a loss."""


TIMING = TrainingTiming
