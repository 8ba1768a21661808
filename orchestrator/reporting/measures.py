"""Measured values, as plain figures and spans of time that other tools read."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.modes.parts.metrics import Better

Facts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MeasuredMetric:
    """A metric of a benchmark."""

    benchmark: str
    """Its name, such as the id of a cell."""
    metric: str
    unit: str
    better: Better
    value: float
    low: float | None = None
    """Lower end of its interval; None without one."""
    high: float | None = None
    values: tuple[float, ...] = ()
    """The value of each repeat or block; empty if they are not known."""
    facts: Facts | None = None
    """The subject of the figures: framework, version, model, mode and others."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The measures of one run."""

    run: str
    created_at: str
    """ISO 8601, UTC."""
    host: str
    host_facts: Facts
    measures: tuple[MeasuredMetric, ...]
    title: str = ""
    """The name of the series, such as the name of the matrix; it is the same for every run of it."""
    remark: str = ""
    """A remark on all its figures, such as `smoke run`; names of benchmarks have it, to keep series apart."""
    succeeded_at: str = ""
    """The end of the last repeat that ended well, in ISO 8601; empty if none did or it is not known."""
    ended: Facts | None = None
    """The number of repeats by their ends; None if that is not known."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time with what happened in it."""

    name: str
    begin_ns: int
    """Nanoseconds since 1970, UTC."""
    end_ns: int
    failure: str = ""
    """The reason that it did not end well; empty if it did."""
    facts: Mapping[str, str | int | float] | None = None
    spans: tuple["TimeSpan", ...] = ()
    """The spans within it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of a run, in one that holds the others."""

    run: str
    host_facts: Facts
    version: str
    """Of the program."""
    span: TimeSpan


def named(runs: Sequence[MeasuredRun]) -> Iterator[tuple[str, MeasuredRun, MeasuredMetric]]:
    """Yield every measure with a name of its benchmark that tells hosts and runs apart, if there are several."""
    hosts = {run.host for run in runs}
    names = Counter(host for host, _ in {(run.host, run.run) for run in runs})
    for run in runs:
        where = f" on {run.host}" if len(hosts) > 1 else ""
        where += f" in {run.run}" if names[run.host] > 1 else ""
        where += f" ({run.remark})" if run.remark else ""
        for measure in run.measures:
            yield measure.benchmark + where, run, measure


def nanoseconds(moment: str) -> int | None:
    """Return a time in ISO 8601 as nanoseconds since 1970, or None if it is none."""
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1e6) * 1000
