"""Series over many runs: a cell, a metric and a host, night by night, with the points at which they change. Pure."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

from orchestrator.analysis import change_points
from orchestrator.domain import Cell
from orchestrator.regression.nightly_file import AcknowledgedEntry
from orchestrator.regression.nightly_loading import Change, covering

MIN_EFFECT = 0.02
"""Changes that are smaller are not looked for."""
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class CellNight:
    """One cell of one run: the geometric mean over its repeats, of every metric."""

    run: str
    created_at: str
    """ISO 8601, UTC."""
    host: str
    conditions: str
    """What breaks a series where it changes: the measuring and the CPU."""
    cell_id: str
    tracked: str
    """The id with releases left out: `mxnet-*-cpu/lenet-train-b200`."""
    pair: str
    """`cpu/lenet-train-b200`, as nightly reports and acknowledged changes name it."""
    release: str
    """`1.9.1`, or with packages that are pinned `1.9.1, numpy 1.22.4`."""
    figures: tuple[tuple[str, float, int], ...]
    """Metric, value, and how many repeats it is the mean of."""


@dataclass(frozen=True, slots=True)
class Point:
    """One night of a series."""

    run: str
    created_at: str
    release: str
    value: float
    repeats: int
    conditions: str


@dataclass(frozen=True, slots=True)
class Shift:
    """A lasting change within a series."""

    index: int
    """Of the first point after it."""
    before: float
    after: float
    p_value: float
    point: Point
    since: str
    """Release of the point before it."""
    acknowledged: str = ""
    """Why it is known; empty where nobody has said so."""

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one cell on one host, oldest first."""

    name: str
    pair: str
    metric: str
    host: str
    points: tuple[Point, ...]
    breaks: tuple[int, ...] = ()
    """Indices of points that are measured otherwise than the one before: nothing is compared across them."""
    shifts: tuple[Shift, ...] = ()

    @property
    def is_tracked(self) -> bool:
        """Whether it follows the newest release of each run, rather than one release."""
        return "*" in self.name


def tracked_id(cell: Cell) -> str:
    """The id of a cell with its framework's version, and those of pinned packages, left out."""
    first, _, second = cell.id.partition("/")
    framework = cell.framework
    first = first.replace(f"{framework.name}-{framework.version}", f"{framework.name}-*", 1)
    for name, version in framework.packages:
        first = first.replace(f"-{name}={version}", f"-{name}=*", 1)
    return f"{first}/{second}"


def release_text(cell: Cell) -> str:
    """What of a cell moves from night to night."""
    return ", ".join([cell.framework.version, *(f"{name} {version}" for name, version in cell.framework.packages)])


def series(
    nights: Iterable[CellNight],
    known: Sequence[AcknowledgedEntry] = (),
    *,
    min_effect: float = MIN_EFFECT,
    metrics: Sequence[str] | None = None,
) -> tuple[Series, ...]:
    """Put the nights of cells together: a series for the newest release of each run, and one for each release.

    Points are in the order of their runs' beginnings. Change points are looked for between breaks alone.
    """
    gathered: dict[tuple[str, str, str, str], list[Point]] = {}
    for name, night in _named(sorted(nights, key=lambda one: (one.created_at, one.run))):
        for metric, value, repeats in night.figures:
            if metrics is None or metric in metrics:
                point = Point(night.run, night.created_at, night.release, value, repeats, night.conditions)
                gathered.setdefault((name, night.pair, metric, night.host), []).append(point)
    return tuple(_series(key, points, known, min_effect) for key, points in sorted(gathered.items()))


def _named(nights: Sequence[CellNight]) -> Iterator[tuple[str, CellNight]]:
    """Every night under the names of the series that it belongs to."""
    newest: dict[tuple[str, str], CellNight] = {}
    for night in nights:
        yield night.cell_id, night
        best = newest.get((night.run, night.tracked))
        if best is None or _order(night.release) > _order(best.release):
            newest[night.run, night.tracked] = night
    for (_, tracked), night in newest.items():
        if tracked != night.cell_id:
            yield tracked, night


def _order(release: str) -> tuple[tuple[bool, Version, str], ...]:
    return tuple(_version(part.rpartition(" ")[2]) for part in release.split(", "))


def _version(text: str) -> tuple[bool, Version, str]:
    """Something to order by, for tags that are no versions too."""
    try:
        return True, Version(text), ""
    except InvalidVersion:
        return False, Version("0"), text


def _series(
    key: tuple[str, str, str, str], points: Sequence[Point], known: Sequence[AcknowledgedEntry], min_effect: float
) -> Series:
    name, pair, metric, host = key
    breaks = [0] + [
        number
        for number, (one, other) in enumerate(itertools.pairwise(points), 1)
        if one.conditions != other.conditions
    ]
    shifts = [
        shift
        for start, end in itertools.pairwise([*breaks, len(points)])
        for shift in _shifts(points, start, end, min_effect)
    ]
    told = tuple(_with_reason(shift, pair, metric, known) for shift in shifts)
    return Series(name, pair, metric, host, tuple(points), tuple(breaks[1:]), told)


def _shifts(points: Sequence[Point], start: int, end: int, min_effect: float) -> Iterator[Shift]:
    for found in change_points([point.value for point in points[start:end]], min_effect=min_effect):
        index = start + found.index
        yield Shift(index, found.before, found.after, found.p_value, points[index], points[index - 1].release)


def _with_reason(shift: Shift, pair: str, metric: str, known: Sequence[AcknowledgedEntry]) -> Shift:
    release, since = (text.rpartition(" ")[2] for text in (shift.point.release, shift.since))
    change = Change(pair, metric, shift.ratio, release, "" if since == release else since, shift.point.created_at[:10])
    entry = covering(known, change)
    return Shift(
        shift.index, shift.before, shift.after, shift.p_value, shift.point, shift.since, entry.reason if entry else ""
    )
