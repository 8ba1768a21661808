"""No framework at all: every step is free, so what is left is what the harness itself costs."""

from benchmarks.errors import Unsupported

OPTIONS = {}


def start(_workload):
    """Return a session whose steps do nothing."""
    return _Session()


class _Session:
    short_blocks = True
    batches = (None,)
    parameters = None

    @staticmethod
    def step(_batch):
        """Do nothing."""

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing."""

    @staticmethod
    def fetch(_handle):
        """There are no logits."""

    @staticmethod
    def loss(_handle):
        """Nothing is learned, so nothing is lost."""
        return 0.0

    @staticmethod
    def weights():
        """There are none, and so nothing to hold against other frameworks."""
        raise Unsupported("noop computes nothing: it has no weights and no layers")

    native_layers = weights

    @staticmethod
    def predict(_inputs):
        """There are no logits."""

    @staticmethod
    def facts():
        """There is nothing to say."""
        return {"framework_version": None, "layout": None, "precision": None, "threads": None, "device": "none"}

    @staticmethod
    def peak_device_bytes():
        """There is no device."""
