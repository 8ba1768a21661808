"""The order of repeats, and those that a resumed run still has to do."""

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from orchestrator.domain import Cell, Outcome, Status

_LAST_YEAR = 9999
Repeat = tuple[Cell, int]
"""A cell and its repeat, counted from 0."""


def order(cells: Sequence[Cell], seed: int) -> tuple[Repeat, ...]:
    """Order the repeats in blocks, each of which holds one repeat of every cell, shuffled with the seed.

    Slow drifts of the host then touch all cells alike, and neighbours differ from block to block
    (a randomised complete block design). In each block, searches for the largest batch come first, as they tell which
    other cells need no launch.
    """
    generator = random.Random(seed)  # noqa: S311 - an order, not a secret
    blocks = []
    for repeat in range(max((cell.repeats for cell in cells), default=0)):
        block = [(cell, repeat) for cell in cells if repeat < cell.repeats]
        generator.shuffle(block)
        block.sort(key=lambda entry: not entry[0].workload.searches)
        blocks.append(block)
    return tuple(entry for block in blocks for entry in block)


def unfinished(
    repeats: Sequence[Repeat], recorded: Callable[[str, int], Outcome | None], *, retry_failed: bool
) -> tuple[Repeat, ...]:
    """Keep the repeats that have no final outcome."""
    return tuple(
        (cell, repeat) for cell, repeat in repeats if not is_final(recorded(cell.id, repeat), retry_failed=retry_failed)
    )


def is_final(outcome: Outcome | None, *, retry_failed: bool) -> bool:
    """Return true if a resumed run leaves an outcome as it is.

    What was not run is run, and a device that was missing is looked for again; a failure is only tried again on
    request.
    """
    if outcome is None or outcome.status in {Status.NOT_RUN, Status.NO_DEVICE}:
        return False
    return not (retry_failed and outcome.status.is_failure)


def new_run_name(now: datetime, token: str, others: Iterable[str] = ()) -> str:
    """Name a run's folder, such as `20261121T153000Z-1f3a`, so that names sort by time. `now` is in UTC.

    Where the clock was set back, or stands still, the time in the name is the second after the last of the `others`.
    """
    times = [when for when in map(_time_of, others) if when is not None and when.year < _LAST_YEAR]
    begun = max([now.replace(microsecond=0), *(when + timedelta(seconds=1) for when in times)])
    return f"{begun:%Y%m%dT%H%M%SZ}-{token}"


def _time_of(name: str) -> datetime | None:
    try:
        return datetime.strptime(name.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
