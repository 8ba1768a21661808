"""The defaults and the choices of options.

The command line declares its options with them, and imports no workflow for that.
"""

from enum import StrEnum
from pathlib import Path

from orchestrator import limits

RESULTS = Path("results")
"""The results folder."""
MATRIX_FILE = Path("matrix.yaml")
"""The matrix that `init` writes."""
INIT_MODELS, INIT_MODES, INIT_REPEATS = ("lenet",), ("train",), 5
"""Defaults of `init`."""
NO_SITE = "none"
"""The word in place of a site file by which a run is measured here as a whole."""
RESULTS_FILE = Path("results.tar.zst")
"""The file of runs for another host."""
NIGHTLY_FILE = Path("nightly.yaml")
"""The releases that are watched, and how they are measured."""
LIMIT = limits.DEFAULT_CELLS
"""Most cells that a matrix may expand to."""
MIN_EFFECT = limits.MIN_EFFECT
"""Smallest change of a series that is looked for, as a share."""
JOBS = 2
"""Environments made at the same time."""
RETRIES = 0
"""Further attempts after a crash."""
EXTRA_REPEATS = 1
"""Most times that a disturbed repeat is measured again."""
IDLE_WAIT_S = 10.0
"""Longest wait for an idle host before a cell."""
INTERFERENCE_ROUNDS = 8
"""Times that a cell is measured alone and beside others."""
FLEET_ROUNDS = 8
"""Times that every node of a fleet measures the same cells."""
SERVE_ADDRESS, SERVE_PORT = "127.0.0.1", 8765
"""The address that `serve` listens at."""
SITES = "sites"
"""The folder of served sites in the cache."""
KEEP_LAST = 1
"""Newest contents to keep of each image."""
HISTORY_METRICS = ("throughput",)
"""The metrics whose series a history shows."""
SCHEMAS = (
    "matrix", "request", "result", "outcome", "run", "environments", "parity", "script", "telemetry", "decisions",
    "event", "manifest", "site", "cluster", "part", "regression", "nightly", "acknowledged", "night", "bisect",
    "plan", "long-matrix", "images", "dockerfiles", "cancelled-run", "kubernetes-jobs", "report", "side-by-side",
    "runs", "repeats", "repeats-of-cell", "published-site", "models", "frameworks", "regression-record",
    "search-record", "night-record",
    "accepted-release", "answered-alarms", "watch-status", "history", "exported-bundle", "verified-bundle",
    "loaded-bundle", "pushed-images", "anonymised-network", "collected-runs", "merged-runs",
    "datasets", "exported-tables", "fitness", "fleet", "surplus",
)  # fmt: skip
"""The names of the published schemas, those of files before those of documents."""


class AnswerName(StrEnum):
    """An answer to an alarm."""

    RIGHT = "right"
    WRONG = "wrong"
    KNOWN = "known"


class TablesFormat(StrEnum):
    """A format of all results as data."""

    PARQUET = "parquet"
    SQLITE = "sqlite"


TABLES = {TablesFormat.PARQUET: "tables", TablesFormat.SQLITE: "tables.sqlite"}
"""The outputs of an export of all results by format."""


class RuntimeName(StrEnum):
    """The name of a runtime, which is where cells run."""

    AUTO = "auto"
    DOCKER = "docker"
    VENV = "venv"
    HOST = "host"
