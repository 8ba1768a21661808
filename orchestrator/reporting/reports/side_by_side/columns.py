"""Several runs side by side, each a column of its own."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.ratios import Ratio, ratio
from orchestrator.catalog import COMPUTES_NOTHING
from orchestrator.domain import Cell, System, Workload
from orchestrator.regression.judge.comparable import environment_fact
from orchestrator.reporting.findings.host_facts import differing, shown_facts
from orchestrator.reporting.findings.model import CellReport, Facts, Report
from orchestrator.wording import clean_line, listing, listing_of, plural

_OF_ENVIRONMENT = {"python": "Python", "precision": "precision"}
"""Facts of a container that do not follow from its host, which must be equal in a ratio between hosts."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class HostRun:
    """A run, which is a column."""

    label: str
    """The host's name, and the run's where two runs are of hosts of one name."""
    facts: Facts
    """Name in `run.json` and text, in the order of `FACTS`; `–` where it is unknown."""
    report: Report


@dataclass(frozen=True, slots=True)
class Beside:
    """A cell in every run."""

    cell_id: str
    label: str
    found: tuple[CellReport | None, ...]
    """In the order of the runs; None where its plan has not got the cell."""
    over_first: tuple[Ratio | None, ...]
    """Each run over the first: between hosts, not between frameworks; None where that would say nothing."""
    note: str = ""
    """The reason for a lacking ratio of what was measured; empty if there is one, or nothing to compare."""


@dataclass(frozen=True, slots=True)
class BesideGroup:
    """Cells of the same work on the same kind of system, each in every run."""

    system: System
    workload: Workload
    cells: tuple[Beside, ...]

    @property
    def label(self) -> str:
        """`lenet-train-b200 on cpu`."""
        return f"{self.workload.label} on {self.system.name}"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several runs, where nothing compares a cell of one host with another cell of another."""

    runs: tuple[HostRun, ...]
    groups: tuple[BesideGroup, ...]
    notes: tuple[str, ...]
    """Warnings to read before a ratio between two columns, one line each."""


def side_by_side(reports: Sequence[Report]) -> SideBySide:
    """Lay two or more runs out next to each other, in their order."""
    runs = _host_runs(reports)
    groups: dict[tuple[str, str], list[Cell]] = {}
    known: set[str] = set()
    for report in reports:
        for cell in report.cells:
            if not cell.cell.script and cell.cell.id not in known:
                known.add(cell.cell.id)
                groups.setdefault((cell.cell.system.name, cell.cell.workload.label), []).append(cell.cell)
    by_id = [report.by_id for report in reports]
    profile = next((report.profile.title for report in reports if report.profile), "")
    laid_out = tuple(
        BesideGroup(
            members[0].system,
            members[0].workload,
            tuple(_labelled([_beside(cell, by_id, profile) for cell in members])),
        )
        for members in groups.values()
    )
    return SideBySide(runs, laid_out, tuple(_notes(runs)))


def _host_runs(reports: Sequence[Report]) -> tuple[HostRun, ...]:
    names = [dict(report.host).get("hostname") or "unnamed host" for report in reports]
    counts = Counter(names)
    return tuple(
        HostRun(
            clean_line(name if counts[name] == 1 else f"{name}, run {report.run}"), shown_facts(report.host), report
        )
        for name, report in zip(names, reports, strict=True)
    )


def _beside(cell: Cell, by_id: Sequence[dict[str, CellReport]], is_of: str = "") -> Beside:
    in_runs = tuple(cells.get(cell.id) for cells in by_id)
    label = next(one.label for one in in_runs if one)
    measured = [one for one in in_runs if one and one.measurement]
    note = _why_not(measured) if len(measured) > 1 else ""
    note = f"measured in a {is_of}" if is_of and len(measured) > 1 else note
    over: list[Ratio | None] = [None] * len(in_runs)
    first = in_runs[0]
    if not note and first and first.measurement:
        over = [
            ratio(_rates(one), _rates(first)) if one and one is not first and one.measurement else None
            for one in in_runs
        ]
    return Beside(cell.id, label, in_runs, tuple(over), note)


def _why_not(measured: Sequence[CellReport]) -> str:
    """Return the reason that a cell is not the same measurement in all runs, or an empty text."""
    first = measured[0]
    if not first.computes:
        return COMPUTES_NOTHING
    for one in measured[1:]:
        if (one.cell.framework, one.cell.system, one.cell.workload, one.cell.options, one.cell.duration) != (
            first.cell.framework, first.cell.system, first.cell.workload, first.cell.options, first.cell.duration,
        ):  # fmt: skip
            return "planned in another way"
        if one.measurement_versions != first.measurement_versions:
            return "measured in another way (measurement_version)"
        for fact, title in _OF_ENVIRONMENT.items():
            texts = [environment_fact(fact, dict(each.facts).get(fact)) for each in (first, one)]
            if all(texts) and texts[0] != texts[1]:
                return f"measured in another environment: {title} {texts[0]} against {texts[1]}"
    return ""


def _rates(cell: CellReport) -> list[float]:
    return [repeat.measurement.samples_per_s for repeat in cell.repeats if repeat.measurement is not None]


def _labelled(cells: Sequence[Beside]) -> Iterator[Beside]:
    """Cells whose label another has in another run go by their id."""
    named = Counter(cell.label for cell in cells)
    yield from (cell if named[cell.label] == 1 else replace(cell, label=cell.cell_id) for cell in cells)


def _notes(runs: Sequence[HostRun]) -> Iterator[str]:
    different = differing([run.facts for run in runs])
    reasons = [each for each in different if not each.startswith("Host (")]
    yield (
        "Every column is a run of its own: frameworks are ranked and compared within a column only. "
        "A ratio between columns compares hosts, not frameworks."
    )
    if reasons:
        yield f"These hosts differ in {listing(reasons)}."
    elif different:
        yield "These hosts have different names and differ in nothing else that was recorded."
    else:
        yield "As far as was recorded, all runs are of one host, at different times."
    yield from _other_content(runs)
    runtimes = dict.fromkeys(run.report.runtime for run in runs)
    if len(runtimes) > 1:
        yield f"The runs have different runtimes ({', '.join(runtimes)}): their figures do not compare."
    for run in runs:
        for warning in run.report.warnings:
            yield f"{run.label}: {warning}"


def _other_content(runs: Sequence[HostRun]) -> Iterator[str]:
    """Images of one name that are not the same image everywhere."""
    ids: dict[str, set[tuple[str, ...]]] = {}
    for run in runs:
        for image in run.report.images:
            if image.image_ids:
                ids.setdefault(image.name, set()).add(image.image_ids)
    other = [name for name, image_ids in ids.items() if len(image_ids) > 1]
    if other:
        verb = "is" if len(other) == 1 else "are"
        yield (
            f"{listing_of(other, _MOST_NAMED)} {verb} not the same {plural('image', len(other))} in all runs: "
            "what differs may be in them, not in the hosts."
        )


def surely(over: Ratio) -> str:
    """The verdict in a word, for a ratio between hosts."""
    return {Verdict.FASTER: "faster host", Verdict.SLOWER: "slower host"}.get(over.verdict, over.verdict.value)
