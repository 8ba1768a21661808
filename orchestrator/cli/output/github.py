"""The summary of a job of GitHub Actions, next to the annotations of `--format github`."""

import os
from collections.abc import Callable
from pathlib import Path

from orchestrator.errors import HostError, remedy
from orchestrator.reporting.formats import GITHUB

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with the file of the summary of a step."""
MOST_BYTES = 1024 * 1024
"""Of a summary: GitHub shows none that is larger."""
_CUT = "\n\nThe rest does not fit into a summary of GitHub.\n"


def add_summary(format_: str, markdown: Callable[[], str]) -> None:
    """Append a report to the summary of the step, if `--format github` shows it within a job.

    Raises `HostError` if the file cannot be written.
    """
    name = os.environ.get(SUMMARY)
    if format_ != GITHUB or not name:
        return
    path = Path(name)
    try:
        room = MOST_BYTES - (path.stat().st_size if path.exists() else 0)
        with path.open("a", encoding="utf-8") as summary:
            summary.write(_fitting(f"{markdown()}\n", room))
    except OSError as error:
        raise HostError(f"{path}: cannot be written: {error.strerror}; {remedy(error)}") from error


def _fitting(text: str, room: int) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= room:
        return encoded.decode()
    kept = encoded[: max(0, room - len(_CUT))].decode(errors="ignore")
    return kept.rpartition("\n")[0] + _CUT if kept else ""
