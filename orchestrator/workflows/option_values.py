"""The defaults and the choices of options.

The command line declares its options with them, and imports no workflow for that.
"""

from enum import StrEnum
from pathlib import Path

RESULTS = Path("results")
"""The results folder."""
RESULTS_FILE = Path("results.tar.zst")
"""The file of runs for another host."""
NIGHTLY_FILE = Path("nightly.yaml")
"""The releases that are watched, and how they are measured."""
JOBS = 2
"""Environments made at the same time."""
RETRIES = 0
"""Further attempts after a crash."""
EXTRA_REPEATS = 1
"""Most times that a disturbed repeat is measured again."""
IDLE_WAIT_S = 10.0
"""Longest wait for an idle host before a cell."""
KEEP_LAST = 1
"""Newest contents to keep of each image."""


class RuntimeName(StrEnum):
    """The name of a runtime, which is where cells run."""

    AUTO = "auto"
    DOCKER = "docker"
    VENV = "venv"
    HOST = "host"


class SchemaName(StrEnum):
    """The name of a published schema."""

    MATRIX = "matrix"
    REQUEST = "request"
    RESULT = "result"
    OUTCOME = "outcome"
    RUN = "run"
    ENVIRONMENTS = "environments"
    EVENT = "event"
    PARITY = "parity"
    SCRIPT = "script"
    MANIFEST = "manifest"
    REGRESSION = "regression"
    NIGHTLY = "nightly"
    ACKNOWLEDGED = "acknowledged"
    NIGHT = "night"
    BISECT = "bisect"
