"""A search that can be carried out."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from orchestrator import matrix
from orchestrator.regression.search.candidates import SearchSubject
from orchestrator.regression.search.record import Bisection
from orchestrator.workflows.search.setup import SearchSetup

PREFIX = "bisect-"
"""The beginning of the name of every search."""


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A search that can be carried out."""

    record: Bisection
    folder: Path
    subject: SearchSubject
    setup: SearchSetup
    retried: frozenset[tuple[str, str]] = frozenset()
    """Baseline and candidate, as `Side.text` writes them, of the comparisons that need a new run."""


def matrix_sha256(loaded: matrix.Matrix) -> str:
    """Return the checksum of a matrix, by which a search that goes on knows it again."""
    return hashlib.sha256(json.dumps(matrix.long_form(loaded), sort_keys=True, default=str).encode()).hexdigest()
