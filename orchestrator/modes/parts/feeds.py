"""The ways in which batches reach the steps of a session, as `benchmarks/inputs/feeds.py` has them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field


class Feed(StrEnum):
    """The ways in which batches reach the steps."""

    PLACED = "placed"
    FED = "fed"
    LOADER = "loader"


OwnFeed = Annotated[Feed, Field(exclude_if=lambda feed: feed == Feed.PLACED)]
"""The feed of a cell or a request, which JSON holds only if it is off its default, as it holds `OwnWorkers`."""
OwnWorkers = Annotated[int, Field(ge=0, exclude_if=lambda workers: workers == 0)]
"""Workers of the framework's own loader; 0 for any other feed."""


def suffix(feed: Feed, workers: int) -> str:
    """Return what a cell's id says of its feed, such as `-feed=loader-workers=2`."""
    named = "" if feed is Feed.PLACED else f"-feed={feed}"
    return f"{named}-workers={workers}" if workers else named
