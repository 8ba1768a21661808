"""The names of stored runs and of their cells.

They are found without a validation of the records, for which a shell that completes a line would have to wait.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from orchestrator.files import open_plain

JOURNAL = ".merging.json"
"""The journal of an incomplete merge, in the results folder."""
CLUSTER = "cluster.json"
"""The record of a run on a cluster, in its folder."""
EVENTS = "events.jsonl"
"""The events since a run was begun or taken up, in its folder. Whoever writes them has locked the file."""
PARTS = "parts"
"""The folder of its parts, each with a run for every node that measured it."""
_CELL = re.compile(r"[A-Za-z0-9._=+/-]+")
"""The characters of every id. A record from elsewhere may hold others, which a shell would run."""


def run_names(results: Path) -> list[str]:
    """Return the names of the runs below a results folder, oldest first."""
    hidden = _hidden(results)
    names = sorted(path.parent.name for path in results.glob("*/run.json"))
    hidden |= _hidden(results)  # a merge may have begun since
    return [name for name in names if name not in hidden]


def cluster_names(results: Path) -> list[str]:
    """Return the names of the runs on a cluster below a results folder, oldest first."""
    hidden = _hidden(results)
    names = sorted(path.parent.name for path in results.glob(f"*/{CLUSTER}"))
    hidden |= _hidden(results)
    return [name for name in names if name not in hidden]


def matching(names: Sequence[str], text: str) -> list[str]:
    """Return the name that is equal to a text, or else all that begin with it.

    `latest` and an empty text mean the last name.
    """
    if text in {"", "latest"}:
        return list(names[-1:])
    return [name for name in names if name == text] or [name for name in names if name.startswith(text)]


def cell_ids(record: Path) -> list[str]:
    """Return the ids of the cells in the record of a run of either kind, none if it cannot be read."""
    try:
        with open_plain(record) as file:
            ids = [cell["id"] for cell in json.load(file)["plan"]["cells"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return [each for each in ids if isinstance(each, str) and _CELL.fullmatch(each)]


def _hidden(results: Path) -> frozenset[str]:
    """Return the names of runs that are not to be seen yet."""
    if not (results / JOURNAL).exists():
        return frozenset()
    from orchestrator.results.results_folder import pending  # noqa: PLC0415 - only a journal needs pydantic

    return pending(results)
