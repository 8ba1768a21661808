"""The frontiers of latency and throughput that a run has found, each a group of series over batch sizes."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.estimates import Estimate
from orchestrator.analysis.frontier.points import FrontierPoint, best_under, on_frontier
from orchestrator.analysis.frontier.series import FrontierSeries, point_of, series_of
from orchestrator.reporting.findings.model import CellReport, Report
from orchestrator.reporting.inline import options, rate_interval, seconds_bounds
from orchestrator.wording import clean_line, rate, seconds

TITLE = "Latency and throughput"
NOTE = (
    "Frontier: no other cell of the table is as quick and yields as much. Latency is the median of a step, or of a "
    "request under load; both figures are geometric means over the repeats, with their 95 % intervals. The other batch "
    "sizes were left out for the reasons that stand among the skipped cells."
)
NUMBERS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class DrawnSeries:
    """One series with its points, the smallest batch first."""

    label: str
    points: tuple[FrontierPoint, ...]


@dataclass(frozen=True, slots=True)
class FoundFrontier:
    """One frontier with its series."""

    title: str
    series: tuple[DrawnSeries, ...]
    limits_s: tuple[float, ...]
    per_s: str = "samples/s"
    """The unit of throughput."""

    @property
    def points(self) -> tuple[FrontierPoint, ...]:
        """Return the points of all series."""
        return tuple(point for each in self.series for point in each.points)

    @property
    def marked(self) -> tuple[FrontierPoint, ...]:
        """Return the points that are on the frontier, the quickest first."""
        every = self.points
        chosen = (point for point, is_on in zip(every, on_frontier(every), strict=True) if is_on)
        return tuple(sorted(chosen, key=lambda point: point.latency_s.value))

    @property
    def best(self) -> tuple[tuple[float, FrontierPoint | None], ...]:
        """Return the best point under each limit, or None where no point is within it."""
        return tuple((limit_s, best_under(self.points, limit_s)) for limit_s in self.limits_s)


def frontiers(report: Report) -> Iterator[FoundFrontier]:
    """Yield every frontier of a run that has a point."""
    grouped: dict[Hashable, list[FrontierSeries]] = {}
    for series in series_of(cell.cell for cell in report.cells):
        grouped.setdefault(series.group, []).append(series)
    cells = report.by_id
    for members in grouped.values():
        drawn = [
            DrawnSeries(label, _points(each, cells)) for label, each in zip(_labels(members), members, strict=True)
        ]
        if any(each.points for each in drawn):
            asked = members[0].cells[0].frontier
            limits_s = asked.latency_limits_s if asked else ()
            per_s = members[0].cells[0].workload.rules.per_s
            yield FoundFrontier(_title(members[0]), tuple(drawn), limits_s, per_s)


def heads(frontier: FoundFrontier) -> tuple[str, ...]:
    """Return the heads of the table of a frontier, with a column for each limit."""
    figures = ("Latency", "its interval", frontier.per_s.capitalize(), "its interval")
    return (
        "Cell",
        "Batch",
        *figures,
        "Frontier",
        *(f"Best within {seconds(limit_s)}" for limit_s in frontier.limits_s),
    )


def rows(frontier: FoundFrontier) -> Iterator[tuple[str, ...]]:
    """Yield a row for every point."""
    marked, best = {id(point) for point in frontier.marked}, frontier.best
    for series in frontier.series:
        for point in series.points:
            yield (
                series.label,
                str(point.size),
                seconds(point.latency_s.value),
                seconds_bounds(_ends(point.latency_s)),
                rate(point.rate.value),
                rate_interval(point.rate),
                "on it" if id(point) in marked else "–",
                *(_best(point, limit_s) if point is found else "–" for limit_s, found in best),
            )


def _best(point: FrontierPoint, limit_s: float) -> str:
    high_s = point.latency_s.high
    return "best, its interval goes beyond" if high_s is not None and high_s > limit_s else "best"


def _ends(value: Estimate) -> tuple[float, float] | None:
    return None if value.low is None or value.high is None else (value.low, value.high)


def _points(series: FrontierSeries, cells: dict[str, CellReport]) -> tuple[FrontierPoint, ...]:
    found = (
        point_of(cell, [each.measurement for each in cells[cell.id].repeats if each.measurement])
        for cell in series.cells
    )
    return tuple(point for point in found if point is not None)


def _labels(members: Sequence[FrontierSeries]) -> list[str]:
    """Name each series by what tells it apart from the others of its group."""
    first = [series.cells[0] for series in members]
    several = len({cell.system for cell in first}) > 1
    values = {name: {dict(cell.options).get(name) for cell in first} for cell in first for name, _ in cell.options}
    return [
        clean_line(
            " · ".join(
                [
                    *([cell.system.name] if several else []),
                    *(options(((name, value),)) for name, value in cell.options if len(values[name]) > 1),
                ]
            )
        )
        or cell.framework.label
        for cell in first
    ]


def _title(series: FrontierSeries) -> str:
    cell = series.cells[0]
    work = cell.workload.label.replace(f"-b{cell.workload.batch_size}", "", 1)
    return clean_line(f"{cell.framework.label}, {work}")
