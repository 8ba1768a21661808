"""A builder without a framework, whose steps are free, so that the cost of the harness itself is left."""

from benchmarks.errors import Unsupported
from benchmarks.vocabulary import features

OPTIONS = {}
SEVERAL_DEVICES = True
OFFERS = features.ALL
"""It computes nothing, so that every model is counted here."""


def start(_workload):
    """Return a session whose steps do nothing."""
    return _Session()


def generator(_workload):
    """Return a session that chooses no tokens."""
    return _Session()


class _Session:
    short_blocks = True
    batches = (None,)
    parameters = None

    @staticmethod
    def step(_batch):
        """Do nothing."""

    prefill = decode = tokens = logits = step

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing."""

    @staticmethod
    def fetch(_handle):
        """Return None, because there are no logits."""

    @staticmethod
    def loss(_handle):
        """Return 0, because nothing is learned."""
        return 0.0

    @staticmethod
    def weights():
        """Raise `Unsupported`, because there are no weights to compare with other frameworks."""
        raise Unsupported("noop computes nothing: it has no weights and no layers")

    native_layers = weights

    @staticmethod
    def predict(_inputs):
        """Return None, because there are no logits."""

    @staticmethod
    def facts():
        """Return facts without a value."""
        return {"framework_version": None, "layout": None, "precision": None, "threads": None, "device": "none"}

    @staticmethod
    def peak_device_bytes():
        """Return None, because there is no device."""
