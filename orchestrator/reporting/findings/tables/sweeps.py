"""Tables over the subjects and the axes of a mode, such as every operator with every size beside each framework."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import System, Workload
from orchestrator.modes.parts.metrics import Metric
from orchestrator.modes.parts.subjects import Subjects
from orchestrator.reporting.findings.model import Group, Placed, Report
from orchestrator.reporting.findings.shared_texts import metric_text
from orchestrator.wording import clean_line

NOTE = "Geometric mean over the repeats. Groups below have the intervals."
_ALONE = 2
"""Groups from which on a table over them tells more than they do."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One metric of a mode on one system, with a row for each subject and set of axes."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    """Columns that hold numbers, from 0."""


def sweeps(report: Report) -> Iterator[Sweep]:
    """Yield a table for each metric of each mode that has subjects, on each system."""
    together: dict[tuple[System, str], list[Group]] = {}
    for group in report.groups:
        if group.workload.rules.subjects and group.places:
            together.setdefault((group.system, group.workload.mode), []).append(group)
    for (system, mode), groups in together.items():
        rules = groups[0].workload.rules
        if rules.subjects and len(groups) >= _ALONE:
            for metric in rules.columns:
                yield _sweep(report, f"{mode} on {system.name}: {metric.title}", groups, (metric, rules.subjects))


def _sweep(report: Report, title: str, groups: Sequence[Group], of: tuple[Metric, Subjects]) -> Sweep:
    metric, subjects = of
    labels = tuple(dict.fromkeys(sorted(place.label for group in groups for place in group.places)))
    shown = _shown_axes([group.workload for group in groups], subjects)
    rows = []
    for group in groups:
        axes, placed = dict(group.workload.axes), {place.label: place for place in group.places}
        figures = (_figure(report, placed.get(label), metric) for label in labels)
        rows.append((group.workload.model, *(f"{axes[name]:,}" for name in shown), *figures))
    heads = (subjects.kind, *shown, *(clean_line(label) for label in labels))
    return Sweep(title, heads, tuple(rows), tuple(range(1, len(heads))))


def _shown_axes(works: Sequence[Workload], subjects: Subjects) -> tuple[str, ...]:
    """Return the axes that are off their default in any work."""
    return tuple(
        axis.name
        for axis in subjects.axes
        if any(not axis.is_default(work.model, dict(work.axes)[axis.name]) for work in works)
    )


def _figure(report: Report, place: Placed | None, metric: Metric) -> str:
    if place is None:
        return "–"
    text = metric_text(metric, report.by_id[place.cell_id])
    apart = place.to_best is not None and place.to_best.verdict is Verdict.NOT_COMPARABLE
    return f"{text} (not comparable)" if apart else text
