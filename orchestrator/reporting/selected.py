"""The part of a run's report that was selected. What was found over all cells stays what it is."""

from dataclasses import replace
from typing import TypeVar

from orchestrator.planning import Selection
from orchestrator.reporting.findings.cells import counts
from orchestrator.reporting.findings.certainty.shortened import smoke_headline
from orchestrator.reporting.findings.claims.findings import StudyReport
from orchestrator.reporting.findings.model import Group, Problem, Replicate, Report
from orchestrator.reporting.findings.summary import headline
from orchestrator.wording import plural

Pair = TypeVar("Pair")


def selected(report: Report, selection: Selection) -> Report:
    """Return a report of the selected cells alone, with the ranks, ratios and verdicts of the whole run.

    It and each of its groups say how many cells are left out.
    """
    cells = tuple(cell for cell in report.cells if selection.takes(cell.cell.id))
    left = len(report.cells) - len(cells)
    groups = [group for group in report.groups if any(selection.takes(cell_id) for cell_id in group.cell_ids)]
    images = {cell.cell.image for cell in cells}
    return replace(
        report,
        headline=smoke_headline(headline(groups, report.by_id), report.profile),
        groups=tuple(_group(group, selection) for group in groups),
        cells=cells,
        statuses=counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=tuple(_problem(one, selection) for one in report.problems if _is_hit(one, selection)),
        skips=tuple(skip for skip in report.skips if selection.takes(skip.cell_id)),
        images=tuple(image for image in report.images if image.name in images),
        study=report.study and _study(report.study, selection),
        further=tuple(_replicate(each, selection) for each in report.further),
        warnings=(*report.warnings, *([_said(left, len(report.cells), selection)] if left else [])),
    )


def _said(left: int, total: int, selection: Selection) -> str:
    return (
        f"{selection.options} {'leave' if ' ' in selection.options else 'leaves'} out {left:,} of {total:,} "
        f"{plural('cell', total)}; ranks and verdicts are those of the whole run"
    )


def _replicate(each: Replicate, selection: Selection) -> Replicate:
    cells = tuple(cell for cell in each.cells if selection.takes(cell.cell.id))
    groups = (group for group in each.groups if any(selection.takes(cell_id) for cell_id in group.cell_ids))
    return replace(
        each,
        groups=tuple(_group(group, selection) for group in groups),
        cells=cells,
        statuses=counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=tuple(_problem(one, selection) for one in each.problems if _is_hit(one, selection)),
    )


def _study(study: StudyReport, selection: Selection) -> StudyReport:
    shown = (each for each in study.claims if selection.takes(each.claim.of, each.claim.over))
    return replace(study, claims=tuple(shown))


def _group(group: Group, selection: Selection) -> Group:
    shown = [number for number, place in enumerate(group.places) if selection.takes(place.cell_id)]
    floors = tuple(floor for floor in group.floors if selection.takes(floor.cell_id))
    total = len(group.cell_ids)
    left = total - len(shown) - len(floors)
    if not left:
        return group
    return replace(
        group,
        places=tuple(group.places[number] for number in shown),
        ratios=_part(group.ratios, shown),
        parity=_part(group.parity, shown),
        sentence=f"{group.sentence} {left:,} of the {total:,} cells here {'is' if left == 1 else 'are'} left out by "
        f"{selection.options}, and counted all the same.",
        floors=floors,
        efficiencies=tuple(each for each in group.efficiencies if selection.takes(each.cell_id)),
    )


def _part(matrix: tuple[tuple[Pair, ...], ...], shown: list[int]) -> tuple[tuple[Pair, ...], ...]:
    """Return the rows and columns that are shown of a matrix over the measured cells, which come first."""
    measured = [number for number in shown if number < len(matrix)]
    return tuple(tuple(matrix[row][column] for column in measured) for row in measured)


def _is_hit(problem: Problem, selection: Selection) -> bool:
    return any(selection.takes(cell.cell_id) for cell in problem.cells)


def _problem(problem: Problem, selection: Selection) -> Problem:
    logs = (
        replace(log, cell_ids=tuple(cell_id for cell_id in log.cell_ids if selection.takes(cell_id)))
        for log in problem.logs
    )
    return replace(
        problem,
        cells=tuple(cell for cell in problem.cells if selection.takes(cell.cell_id)),
        logs=tuple(log for log in logs if log.cell_ids),
    )
