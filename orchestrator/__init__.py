"""Docker-orchestrated benchmark matrix runner for deep-learning frameworks."""

__version__ = "0.1.0"
