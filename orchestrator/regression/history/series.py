"""Series over many runs, one for each cell, metric and host, with their change points."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import InvalidVersion, Version

from orchestrator.analysis.change_points import change_points
from orchestrator.domain import Cell
from orchestrator.limits import MIN_EFFECT
from orchestrator.regression.history.acknowledged import AcknowledgedEntry, ObservedChange, covering

LEAST_POINTS = 2
NEAR = 3
"""Runs by which the place of a change may differ from the acknowledged one, as the level of values determines it."""


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """One cell of one run, with the geometric mean of every metric over its repeats."""

    run: str
    created_at: str
    """ISO 8601, UTC."""
    host: str
    conditions: Mapping[str, str]
    """The conditions that break a series if they change, by title, which are those that `compare` refuses to mix."""
    cell_id: str
    tracked: str
    """The id without releases, such as `mxnet-*-cpu/lenet-train-b200`."""
    pair: str
    """`cpu/lenet-train-b200`, as nightly reports and acknowledged changes name it."""
    release: str
    """`1.9.1`, or with packages that are pinned `1.9.1, numpy 1.22.4`."""
    versions: tuple[str, ...]
    """Versions of the framework and of the pinned packages, such as `("1.9.1", "1.22.4")`."""
    figures: tuple[tuple[str, float, int], ...]
    """Metric, its value, and the number of repeats behind that mean."""
    builder: str = ""
    """The builder of the image that it ran in."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a series."""

    run: str
    created_at: str
    release: str
    versions: tuple[str, ...]
    value: float
    repeats: int
    conditions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Shift:
    """A lasting change within a series."""

    index: int
    """Index of the first point after it."""
    before: float
    after: float
    p_value: float
    point: Point
    since: str
    """The release of the point before it."""
    acknowledged: str = ""
    """The reason it is acknowledged; empty if it is not."""

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
    computes: bool = True
    """False where the cell computes nothing: then no change is looked for."""

    @property
    def is_tracked(self) -> bool:
        """Return true if it follows the newest release of each run, rather than one release."""
        return "*" in self.name


def tracked_id(cell: Cell) -> str:
    """Return the id of a cell without the versions of its framework and its pinned packages."""
    first, _, second = cell.id.partition("/")
    framework = cell.framework
    first = first.replace(f"{framework.name}-{framework.version}", f"{framework.name}-*", 1)
    for name, version in framework.packages:
        first = first.replace(f"-{name}={version}", f"-{name}=*", 1)
    return f"{first}/{second}"


def release_text(cell: Cell) -> str:
    """Return the versions of a cell that change from run to run."""
    return ", ".join([cell.framework.version, *(f"{name} {version}" for name, version in cell.framework.packages)])


def release_versions(cell: Cell) -> tuple[str, ...]:
    """Return the versions of `release_text`, first that of the framework, then those of its packages."""
    return cell.framework.version, *(version for _, version in cell.framework.packages)


def series_of(cells: Iterable[MeasuredCell]) -> frozenset[tuple[str, str, str]]:
    """Return name, metric and host of every series."""
    return frozenset(
        (name, metric, cell.host)
        for cell in cells
        for metric, _, _ in cell.figures
        for name in (cell.cell_id, cell.tracked)
    )


def series(
    cells: Iterable[MeasuredCell],
    known: Sequence[AcknowledgedEntry] = (),
    *,
    min_effect: float = MIN_EFFECT,
    metrics: Sequence[str] | None = None,
    idle_builders: Collection[str] = (),
) -> tuple[Series, ...]:
    """Put cells of runs together in series, for the newest release of each run and for each release.

    Points are in the order of their runs' beginnings. Change points are looked for only between breaks, and in no cell
    of `idle_builders`, which compute nothing.
    """
    gathered: dict[tuple[str, str, str, str], list[Point]] = {}
    idle: set[str] = set()
    for name, cell in _named(sorted(cells, key=lambda cell: (cell.created_at, cell.run))):
        if cell.builder in idle_builders:
            idle.add(name)
        for metric, value, repeats in cell.figures:
            if metrics is None or metric in metrics:
                point = Point(cell.run, cell.created_at, cell.release, cell.versions, value, repeats, cell.conditions)
                gathered.setdefault((name, cell.pair, metric, cell.host), []).append(point)
    return tuple(
        _series(key, points, known, min_effect, computes=key[0] not in idle) for key, points in sorted(gathered.items())
    )


def _named(cells: Sequence[MeasuredCell]) -> Iterator[tuple[str, MeasuredCell]]:
    """Yield every cell under the names of its series."""
    newest: dict[tuple[str, str], MeasuredCell] = {}
    for cell in cells:
        yield cell.cell_id, cell
        best = newest.get((cell.run, cell.tracked))
        if best is None or release_order(cell.versions) > release_order(best.versions):
            newest[cell.run, cell.tracked] = cell
    for (_, tracked), cell in newest.items():
        if tracked != cell.cell_id:
            yield tracked, cell


def release_order(versions: Sequence[str]) -> tuple[tuple[bool, Version, str], ...]:
    """Return a key that orders releases by the versions of framework and packages."""
    return tuple(map(_version, versions))


def _version(text: str) -> tuple[bool, Version, str]:
    """Return a key to sort by, also for tags that are no versions."""
    try:
        return True, Version(text), ""
    except InvalidVersion:
        return False, Version("0"), text


def _series(
    key: tuple[str, str, str, str],
    points: Sequence[Point],
    known: Sequence[AcknowledgedEntry],
    min_effect: float,
    *,
    computes: bool,
) -> Series:
    name, pair, metric, host = key
    breaks = [0, *_breaks(points)]
    shifts = [
        shift
        for start, end in itertools.pairwise([*breaks, len(points)] if computes else ())
        for shift in _shifts(points, start, end, min_effect)
    ]
    acknowledged_shifts = tuple(
        replace(shift, acknowledged=_reason(shift, points, pair, metric, known)) for shift in shifts
    )
    return Series(name, pair, metric, host, tuple(points), tuple(breaks[1:]), acknowledged_shifts, computes)


def _breaks(points: Sequence[Point]) -> Iterator[int]:
    """Yield the points whose conditions differ from those since the last break. An unknown condition breaks nothing."""
    conditions: dict[str, str] = {}
    for index, point in enumerate(points):
        if any(conditions.get(title, value) != value for title, value in point.conditions.items()):
            yield index
            conditions = {}
        conditions |= point.conditions


def _shifts(points: Sequence[Point], start: int, end: int, min_effect: float) -> Iterator[Shift]:
    for change in change_points([point.value for point in points[start:end]], min_effect=min_effect):
        index = start + change.index
        yield Shift(index, change.before, change.after, change.p_value, points[index], points[index - 1].release)


def _reason(shift: Shift, points: Sequence[Point], pair: str, metric: str, known: Sequence[AcknowledgedEntry]) -> str:
    """Return the reason that a change is acknowledged, or an empty text.

    A release explains a change only if it came with it: a host that got slower later is not its effect. Of framework
    and packages, the first in the name of the release that moved counts.
    """
    before, after = points[shift.index - 1].versions, shift.point.versions
    since, release = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), ("", ""))
    around = points[max(0, shift.index - NEAR) : shift.index + NEAR + 1]
    dates = around[0].created_at[:10], around[-1].created_at[:10]
    for entry in known:
        if entry.date is None and not release:
            continue
        if entry.date is not None and not dates[0] <= entry.date <= dates[1]:
            continue
        if covering([entry], ObservedChange(pair, metric, shift.ratio, release, since, entry.date or "")):
            return entry.reason
    return ""
