"""A run that finds frontiers: a few cells of each series, what they show, and more cells where that is not enough.

The plan in the record of the run grows by cells. Those that it does not have stand among its skips, with the reason, so
that a run which goes on continues at the same place and a report says what was left out.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.frontier.points import (
    TOLERANCE,
    FrontierPoint,
    best_under,
    expected,
    first_sizes,
    known_by,
    next_sizes,
)
from orchestrator.analysis.frontier.series import FrontierSeries, point_of, series_of
from orchestrator.analysis.measurements import RepeatMeasurement, repeat_measurement
from orchestrator.domain import Cell, Plan, Skip, Status
from orchestrator.events import Notice
from orchestrator.modes.parts.frontier import SIZES
from orchestrator.results.evidence import read_repeats
from orchestrator.results.growing import GrowingRun, growing_run
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.wording import counted

LEFT_OUT = "left out of the frontier: "
"""The beginning of the reason of a cell that a run may still take in."""
_SO_FAR = f"{LEFT_OUT}not asked for so far"


def first_plan(plan: Plan) -> Plan:
    """Return the plan with the first cells of every series, and all cells that are a part of no frontier."""
    dropped = {
        cell.id
        for series in series_of(plan.cells)
        if all(_id_of(series.cells[0], cell.workload.batch_size) == cell.id for cell in series.cells)
        for cell in _after_the_first(series)
    }
    skips = tuple(Skip(cell.id, _SO_FAR) for cell in plan.cells if cell.id in dropped)
    return replace(
        plan, cells=tuple(cell for cell in plan.cells if cell.id not in dropped), skips=(*plan.skips, *skips)
    )


def _after_the_first(series: FrontierSeries) -> Iterator[Cell]:
    first = first_sizes([cell.workload.batch_size for cell in series.cells])
    yield from (cell for cell in series.cells if cell.workload.batch_size not in first)


def frontier_run(around: Surroundings, policy: Policy) -> "FrontierRun":
    """Return the run that has begun, some of whose cells are a part of a frontier."""
    return FrontierRun(around, policy, growing_run(around.run))


@dataclass
class FrontierRun:
    """A run that finds frontiers, while it is measured."""

    around: Surroundings
    policy: Policy
    run: GrowingRun

    def carry_out(self) -> None:
        """Measure until every batch size that is left out is known. Where `stop` is set, the run has no end yet.

        Raises `HostError` as `execute` does.
        """
        while self._measure():
            plan = self._grown()
            if plan == self.run.plan:
                return
            more = len(plan.cells) - len(self.run.plan.cells)
            self.run.write_plan(plan)
            if not more:
                return
            self.around.listener(Notice(f"the frontier takes {counted(more, 'further cell')}"))

    def _measure(self) -> bool:
        """Measure what the plan holds. Return false if it was stopped, or if a failure is to end the run."""
        expected = {cell.id: cell.expect for cell in self.run.plan.cells}
        has_failed = False
        for outcome in execute(self.run.plan, self.around, self.policy):
            has_failed |= outcome.status.is_failure and outcome.status is not expected[outcome.cell_id]
        self.policy = replace(self.policy, retry_failed=False)  # or each round would try them again
        return not (self.around.stop.is_set() or (self.policy.fail_fast and has_failed))

    def _grown(self) -> Plan:
        """Return the plan with the cells to measure next, and with the reasons of those that are still left out."""
        plan = self.run.plan
        open_ids = {skip.cell_id for skip in plan.skips if skip.reason.startswith(LEFT_OUT)}
        known = [(series, measured_points(self.run.run, series)) for series in series_of(plan.cells)]
        added: list[Cell] = []
        reasons: dict[str, str] = {}
        for series, measured in known:
            others = [
                point
                for other, points in known
                if other is not series and other.group == series.group
                for point in points.values()
                if point is not None
            ]
            waiting = _left_out(series, open_ids)
            sizes = sorted({*measured, *waiting})
            wanted = next_sizes(sizes, measured, others)
            added += (_of_size(series.cells[0], size) for size in wanted)
            reasons |= {waiting[size]: reason for size, reason in known_by(sizes, measured, others).items()}
        if not added:
            added = [_of_size(series.cells[0], size) for series, size in _best_to_confirm(known, open_ids)]
        return _with_cells(plan, added, {name: LEFT_OUT + reason for name, reason in reasons.items()})


Points = dict[int, FrontierPoint | None]
"""The points of a series by batch size, with None for a size without a figure."""


def _best_to_confirm(
    known: Sequence[tuple[FrontierSeries, Points]], open_ids: set[str]
) -> Iterator[tuple[FrontierSeries, int]]:
    """Yield what is by its line the best within a limit, and better than all that was measured, once each."""
    groups: dict[Hashable, list[tuple[FrontierSeries, Points]]] = {}
    for series, measured in known:
        groups.setdefault(series.group, []).append((series, measured))
    chosen: set[str] = set()
    for members in groups.values():
        asked = members[0][0].cells[0].frontier
        for limit_s in asked.latency_limits_s if asked else ():
            best = best_under([point for _, points in members for point in points.values() if point], limit_s)
            least = best.rate.value * (1 + TOLERANCE) if best else 0.0
            better = [
                (rate, number, size)
                for number, (series, points) in enumerate(members)
                for size, latency_s, rate in expected(sorted({*points, *_left_out(series, open_ids)}), points)
                if latency_s <= limit_s and rate > least
            ]
            if better:
                _, number, size = max(better)
                series = members[number][0]
                if _id_of(series.cells[0], size) not in chosen:
                    chosen.add(_id_of(series.cells[0], size))
                    yield series, size


def measured_points(run: Run, series: FrontierSeries) -> Points:
    """Return the points of a series that a run has measured."""
    return {cell.workload.batch_size: point_of(cell, list(_repeats(run, cell))) for cell in series.cells}


def _repeats(run: Run, cell: Cell) -> Iterator[RepeatMeasurement]:
    for stored in read_repeats(run, cell.id, range(cell.repeats)):
        if stored.outcome.status is Status.OK and stored.result is not None:
            yield repeat_measurement(stored.result, stored.outcome.create_s, load=cell.workload.load)


def _left_out(series: FrontierSeries, open_ids: set[str]) -> dict[int, str]:
    """Return the ids of the cells of a series that a run may still take in, by batch size."""
    named = {size: _id_of(series.cells[0], size) for size in SIZES}
    return {size: name for size, name in named.items() if name in open_ids}


def _of_size(cell: Cell, size: int) -> Cell:
    """Return the cell of the same series with another batch size."""
    return replace(cell, id=_id_of(cell, size), workload=replace(cell.workload, batch_size=size))


def _id_of(cell: Cell, size: int) -> str:
    """Return the id of the cell of the same series with another batch size, unless ids are cut."""
    site, _, work = cell.id.partition("/")
    before = f"{cell.workload.model}-{cell.workload.mode}-b"
    return f"{site}/{before}{size}{work.removeprefix(f'{before}{cell.workload.batch_size}')}"


def _with_cells(plan: Plan, added: Sequence[Cell], reasons: Mapping[str, str]) -> Plan:
    taken_in = {cell.id for cell in added}
    skips = (replace(skip, reason=reasons.get(skip.cell_id, skip.reason)) for skip in plan.skips)
    return replace(
        plan, cells=(*plan.cells, *added), skips=tuple(skip for skip in skips if skip.cell_id not in taken_in)
    )
