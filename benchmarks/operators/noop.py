"""Operators without a framework, which are free, so that the cost of the harness itself is left."""

from benchmarks.frameworks.noop import OPTIONS  # noqa: F401 -- part of the interface


def start(_settings):
    """Return a session whose operators do nothing."""
    return _Session()


class _Session:
    @staticmethod
    def call(_name):
        """Return a function that does nothing."""
        return lambda *_inputs: None

    @staticmethod
    def placed(array):
        """Return the array as it is."""
        return array

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing."""

    @staticmethod
    def fetch(_handle):
        """Return None, because nothing is computed."""

    @staticmethod
    def facts():
        """Return facts without a value."""
        return {"framework_version": None, "layout": None, "precision": None, "threads": None, "device": "none"}

    @staticmethod
    def peak_device_bytes():
        """Return None, because there is no device."""
