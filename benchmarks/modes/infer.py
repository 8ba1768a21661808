"""Inference, whose step runs forward alone and whose logits are fetched in the latency pass."""

from benchmarks.timing import timed

TRAINS = False


def answer(request, enter):
    """Measure inference."""
    return timed.answer(request, enter)


class InferenceTiming:
    """An inference session as it is timed."""

    evaluates = False

    def __init__(self, session):
        self.finish = self.outputs = session.fetch

    @staticmethod
    def loss(_handle, _when):
        """Return None, because inference has no loss."""


TIMING = InferenceTiming
