"""No framework at all: every step is free, so what is left is what the harness itself costs."""

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
    def facts():
        """There is nothing to say."""
        return {"framework_version": None, "layout": None, "precision": None, "threads": None, "device": "none"}

    @staticmethod
    def peak_device_bytes():
        """There is no device."""
