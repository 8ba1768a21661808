"""The environments that were made for a run, as its events tell."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic_core import from_json

from orchestrator.files import open_within
from orchestrator.results.names import EVENTS

_FINISHED = b'"build_finished"'
_MOST_LINE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Build:
    """The making of an environment."""

    image: str
    """`ImageSpec.name`."""
    began_at: str
    """ISO 8601, UTC."""
    wall_s: float
    reason: str = ""
    """The reason that there is no such environment, in one line; empty if it was made."""


def builds(folder: Path) -> tuple[Build, ...]:
    """Return what was made since the run in a folder was begun or last taken up, in the order of the ends.

    What was there already is left out, and so is a line that is no event. A run without events has no builds.
    """
    try:
        with open_within(folder, EVENTS) as file:
            lines = iter(lambda: file.readline(_MOST_LINE_BYTES), b"")
            return tuple(build for line in lines if _FINISHED in line for build in _parsed(line))
    except OSError:
        return ()


def _parsed(line: bytes) -> Iterator[Build]:
    try:
        event = from_json(line, allow_inf_nan=False)
        if event["event"] != "build_finished" or event["cached"]:
            return
        ended, wall_s = datetime.fromisoformat(event["at"]).astimezone(UTC), float(event["wall_s"])
        began = ended - timedelta(seconds=wall_s)
        image, reason = event["image"], event["reason"]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return
    if isinstance(image, str) and isinstance(reason, str) and 0 < wall_s < math.inf:
        yield Build(image, began.isoformat(timespec="milliseconds"), wall_s, reason)
