"""Parts that the readers of several formats share."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

TIME = "time"
CPU_TIME = "cpu_time"
MEMORY = "memory"
ONE_PROCESS = "all samples are of one process: what differs from process to process is in no interval"
_MOST_SINGLE = 60
_STRETCHES = 30

Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Lenient(BaseModel):
    """A part of a foreign document, of which only what is needed is read."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


def has_items(document: Any, key: str, *keys: str) -> bool:
    """Return true for an object whose `key` is a list with an object that has all these keys."""
    listed = document.get(key) if isinstance(document, dict) else None
    items = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return any(all(name in item for name in keys) for item in items)


def stretches(rounds: Sequence[float]) -> tuple[float, ...]:
    """Return the rounds of one process as samples: each by itself, or medians of thirty stretches if they are many.

    Rounds that follow each other are alike, and outliers come in bursts. Taken as independent, thousands of them would
    make an interval far too narrow. Source: the method of batch means, Law, "Simulation Modeling and Analysis" (2015),
    chapter 9.5.
    """
    if len(rounds) <= _MOST_SINGLE:
        return tuple(rounds)
    bounds = [len(rounds) * number // _STRETCHES for number in range(_STRETCHES + 1)]
    return tuple(statistics.median(rounds[begin:end]) for begin, end in pairwise(bounds))


def stretched(count: int) -> str:
    """Return a note on rounds of one process, and on how they became samples."""
    of_stretches = f"{count:,} rounds count as the medians of {_STRETCHES} stretches; " if count > _MOST_SINGLE else ""
    return of_stretches + ONE_PROCESS
