"""Cells that compute nothing, whose step is the time of the harness itself."""

from collections import Counter
from collections.abc import Sequence

from orchestrator.domain import Status
from orchestrator.reporting.figures import statuses
from orchestrator.reporting.findings.model import CellReport, Floor, Group, GroupFinding
from orchestrator.wording import listing, seconds, share

HEADS = ("Harness floor", "Step", "Of the fastest", "Start", "Memory", "Repeats")
NOTE = "Cells that compute nothing: their step is what the harness itself takes. They have no rank."


def floors(idle: Sequence[CellReport], measured: Sequence[CellReport]) -> tuple[Floor, ...]:
    """Describe the cells of a group that compute nothing, beside those that were measured."""
    steps = [cell.step_s for cell in measured if cell.step_s is not None]
    return tuple(
        Floor(
            cell.cell.id,
            cell.label,
            cell.step_s,
            None if cell.step_s is None or not steps else cell.step_s / min(steps),
        )
        for cell in idle
    )


def share_of(cell: CellReport, idle: Sequence[CellReport]) -> float | None:
    """Return the part of a cell's step that the slowest floor takes, or None if one was not measured."""
    steps = [one.step_s for one in idle if one.step_s is not None]
    return max(steps) / cell.step_s if steps and cell.step_s is not None else None


def floor_finding(idle: Sequence[CellReport]) -> tuple[GroupFinding, str]:
    """Say what a group without any other cell comes to."""
    known = [f"a step of {cell.label} takes {seconds(cell.step_s)}" for cell in idle if cell.step_s is not None]
    if known:
        return GroupFinding.FLOOR, f"Nothing here computes anything: {listing(known)}."
    counts = Counter(repeat.outcome.status for cell in idle for repeat in cell.repeats)
    ends = statuses([(status, counts[status]) for status in Status if counts[status]])
    return GroupFinding.NOTHING, f"Nothing was measured: {ends}."


def lines(group: Group, fastest: str = "the fastest") -> list[str]:
    """Describe each floor of a group in a line, none if nothing else was planned."""
    return [_line(floor, fastest) for floor in group.floors] if group.places else []


def _line(floor: Floor, fastest: str) -> str:
    if floor.step_s is None:
        return f"Harness floor: {floor.label} was not measured."
    of = "" if floor.share is None else f", {share(floor.share)} of a step of {fastest}"
    return f"Harness floor: {floor.label} takes {seconds(floor.step_s)} a step{of}."
