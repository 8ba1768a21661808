"""The watch as a whole: its heartbeat, the quiet of its rig, and what its alarms were worth."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.regression.model import JudgedPair
from orchestrator.regression.nightly.records import Heartbeat
from orchestrator.regression.nightly.state import Night, State
from orchestrator.regression.nightly.watch.heartbeat import heartbeat
from orchestrator.regression.nightly.watch.quiet import Quiet, quiet
from orchestrator.regression.nightly.watch.scores import Precision, RaisedAlarm, doubted, precision, raised_alarms


@dataclass(frozen=True, slots=True)
class Watch:
    """All that the nights say of the watch itself."""

    watched: str
    at: str
    """ISO 8601, UTC."""
    nights: int
    heartbeat: Heartbeat
    quiet: Quiet
    alarms: tuple[RaisedAlarm, ...]
    """Oldest first."""
    precision: tuple[Precision, ...]
    """Month by month, all months last."""
    doubted: tuple[tuple[str, str], ...]
    """Cell and metric of the series that need more blocks to alarm next to the baseline."""
    doubted_drifts: tuple[tuple[str, str], ...]
    """Those that need more to alarm next to the anchor."""
    further_blocks: int
    """Blocks that doubted series have taken so far, beyond those of any other series."""


def watch(state: State, nights: Sequence[Night], now: datetime, limit: int) -> Watch:
    """Return what the recorded nights, oldest first, and the answers to their alarms say at a moment."""
    alarms = raised_alarms(nights, state.scores)
    return Watch(
        watched=state.watched,
        at=now.isoformat(timespec="seconds"),
        nights=len(nights),
        heartbeat=heartbeat(nights, now, limit),
        quiet=quiet(nights),
        alarms=alarms,
        precision=precision(alarms),
        doubted=doubted(state.scores, of_anchor=False),
        doubted_drifts=doubted(state.scores, of_anchor=True),
        further_blocks=sum(_further(pair) for pair in _pairs(nights)),
    )


def with_watch(night: Night, nights: Sequence[Night], limit: int) -> Night:
    """Return a night with its heartbeat, and the noise that its verdicts rest on. `nights` may hold it already."""
    before = [each for each in nights if each.night != night.night]
    noise = quiet([*before, night]).noise
    beat = heartbeat(before, datetime.fromisoformat(night.ended_at), limit, night)
    return night.model_copy(update={"noise": noise, "heartbeat": beat})


def _pairs(nights: Iterable[Night]) -> Iterator[JudgedPair]:
    for trying in (trying for night in nights for trying in night.tried):
        if trying.regression is not None:
            yield from trying.regression.pairs
            yield from trying.regression.anchored.pairs if trying.regression.anchored else ()


def _further(pair: JudgedPair) -> int:
    """Return the fresh blocks of a pair beyond as many as found it slower."""
    confirmed = (metric for metric in pair.metrics if metric.confirmation is not None)
    blocks = [metric.confirmation.blocks - metric.blocks for metric in confirmed if metric.confirmation is not None]
    return max([0, *blocks])
