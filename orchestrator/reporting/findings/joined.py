"""The reports of the parts of a run, joined to one. Nothing of them is computed anew but what spans parts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.domain import ImageSpec, Outcome, Plan, Skip, Status
from orchestrator.reporting.findings.cells import NO_OUTCOME, counts, merged
from orchestrator.reporting.findings.certainty.shortened import smoke_headline
from orchestrator.reporting.findings.claims.findings import StudyReport
from orchestrator.reporting.findings.claims.judgement import of_plan
from orchestrator.reporting.findings.cluster_model import ClusterReport, NodeReport, PartOnNode
from orchestrator.reporting.findings.groups import unknown
from orchestrator.reporting.findings.host_facts import FACTS, differing, shown_facts
from orchestrator.reporting.findings.model import (
    CellReport,
    CheckReport,
    Facts,
    Group,
    ImageReport,
    Repeat,
    Report,
)
from orchestrator.reporting.findings.problems import Tail, problems
from orchestrator.reporting.findings.summary import headline
from orchestrator.runtimes import STOPPED
from orchestrator.wording import clean_line, listing, listing_of

_MOST_NAMED = 3
_MOST_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class PartReport:
    """The report of a part on the node whose figures count."""

    name: str
    node: str
    """Empty for a part that no node has begun."""
    folder: str
    """Of its run, relative to that of the whole."""
    report: Report
    end: str = ""
    """The end of its last job, in a sentence; empty if there was none, or if it is not known."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A run on a cluster, as it is known without its parts."""

    run: str
    created_at: str
    orchestrator_version: str
    plan: Plan
    replicate: int
    """Nodes that measure each part."""
    tail: Tail
    """The end of the log of an outcome, by its path in the folder of the whole run."""


def joined(whole: Whole, parts: Sequence[PartReport]) -> Report:
    """Join the reports of the parts of a run. Every part of the plan is among them."""
    plan, placed = whole.plan, [_placed(part) for part in parts]
    position = {cell.id: number for number, cell in enumerate(plan.cells)}
    cells = tuple(sorted((cell for each in placed for cell in each.cells), key=lambda cell: position[cell.cell.id]))
    groups = sorted((group for each in placed for group in each.groups), key=lambda group: _first(group, position))
    by_id = {cell.cell.id: cell for cell in cells}
    begun = [part for part in parts if part.node]
    return Report(
        run=whole.run,
        matrix=clean_line(plan.name),
        created_at=clean_line(whole.created_at),
        runtime=", ".join(dict.fromkeys(part.report.runtime for part in begun or parts)),
        orchestrator_version=whole.orchestrator_version,
        host=_common_host(begun),
        headline=smoke_headline(headline(groups, by_id), plan.profile),
        groups=tuple(groups),
        cells=cells,
        statuses=counts(repeat.outcome.status for cell in cells for repeat in cell.repeats),
        problems=problems(cells, whole.tail),
        skips=tuple(Skip(clean_line(skip.cell_id), clean_line(skip.reason)) for skip in plan.skips),
        images=_images(plan.images, placed),
        warnings=(*map(clean_line, plan.warnings), *_warnings(placed)),
        checks=tuple(_checks(placed)),
        study=_study(plan, placed),
        profile=plan.profile,
        cluster=ClusterReport(*across(whole, parts), tuple(_parts(parts, placed))),
    )


def _warnings(placed: Sequence[Report]) -> Iterator[str]:
    """Yield the warnings of the parts, each once and no more than a person reads."""
    every = tuple(dict.fromkeys(line for report in placed for line in report.warnings))
    yield from every[:_MOST_WARNINGS]
    if len(every) > _MOST_WARNINGS:
        yield f"{len(every) - _MOST_WARNINGS:,} further warnings stand in the reports of the parts"


def _first(group: Group, position: dict[str, int]) -> int:
    return min((position[cell_id] for cell_id in group.cell_ids), default=len(position))


def _placed(part: PartReport) -> Report:
    """Return the report of a part with its node, and with paths from the folder of the whole run."""
    report = part.report
    return replace(
        report,
        groups=tuple(replace(group, node=clean_line(part.node)) for group in report.groups),
        cells=tuple(_cell(cell, part) for cell in report.cells),
        checks=tuple(replace(check, log=_path(part, check.log)) for check in report.checks),
    )


def _cell(cell: CellReport, part: PartReport) -> CellReport:
    repeats = tuple(Repeat(_outcome(repeat.outcome, part), repeat.measurement) for repeat in cell.repeats)
    return replace(cell, repeats=repeats)


def _outcome(outcome: Outcome, part: PartReport) -> Outcome:
    """Return an outcome with its log, and with the end of the job as the reason if that left it without another."""
    left = outcome.status is Status.NOT_RUN and outcome.reason in {NO_OUTCOME, STOPPED}
    reason = clean_line(part.end) if left and part.end else outcome.reason
    return replace(outcome, reason=reason, log=_path(part, outcome.log))


def _path(part: PartReport, log: str | None) -> str | None:
    return None if log is None else f"{part.folder}/{log}"


def _common_host(begun: Sequence[PartReport]) -> tuple[tuple[str, str], ...]:
    """Return the facts that all nodes share, under the names of the nodes."""
    every = [dict(part.report.host) for part in begun]
    names = tuple(dict.fromkeys(clean_line(part.node) for part in begun))
    if not every:
        return ()
    own = ((name, value) for name, value in every[0].items() if name != "hostname")
    shared = ((name, value) for name, value in own if all(host.get(name) == value for host in every))
    return (("hostname", listing_of(names, _MOST_NAMED)), *shared)


def _images(images: Sequence[ImageSpec], placed: Sequence[Report]) -> tuple[ImageReport, ...]:
    """Return what every node says of each image, together."""
    known: dict[str, list[ImageReport]] = {}
    for report in placed:
        for image in report.images:
            known.setdefault(image.name, []).append(image)
    return tuple(_image(known[image.name]) for image in images if image.name in known)


def _image(several: Sequence[ImageReport]) -> ImageReport:
    return replace(
        several[0],
        references=_distinct(name for image in several for name in image.references),
        image_ids=_distinct(name for image in several for name in image.image_ids),
        base_digests=_distinct(name for image in several for name in image.base_digests),
        measurement_versions=tuple(sorted({version for image in several for version in image.measurement_versions})),
        facts=merged([image.facts for image in several if image.facts]),
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _checks(placed: Sequence[Report]) -> Iterator[CheckReport]:
    """Yield every check once, though several parts may have made it, with those that ended in another way."""
    known: set[tuple[str, Status, str]] = set()
    for check in (check for report in placed for check in report.checks):
        key = check.check, check.status, check.reason
        if key not in known:
            known.add(key)
            yield check


def _study(plan: Plan, placed: Sequence[Report]) -> StudyReport | None:
    """Return the claims as the parts have judged them. Those on cells that no part has are judged here."""
    if plan.study is None:
        return None
    judged = {finding.claim.name: finding for report in placed if report.study for finding in report.study.claims}
    whole = of_plan(plan, {}, unknown)
    if whole is None:
        return None
    return replace(whole, claims=tuple(judged.get(finding.claim.name, finding) for finding in whole.claims))


def _parts(parts: Sequence[PartReport], placed: Sequence[Report]) -> Iterator[PartOnNode]:
    for part, report in zip(parts, placed, strict=True):
        is_left = any(repeat.outcome.status is Status.NOT_RUN for cell in report.cells for repeat in cell.repeats)
        ids = tuple(cell.cell.id for cell in report.cells)
        end = clean_line(part.end) if is_left else ""
        yield PartOnNode(part.name, clean_line(part.node), part.folder, ids, end)


def across(whole: Whole, parts: Sequence[PartReport]) -> tuple[tuple[NodeReport, ...], tuple[str, ...]]:
    """Return the nodes of parts in the order of their names, and sentences on what differs between them."""
    titles = dict(FACTS)
    on_node: dict[str, list[Report]] = {}
    for part in sorted(parts, key=lambda part: part.node):
        if part.node:
            on_node.setdefault(clean_line(part.node), []).append(part.report)
    facts = {node: shown_facts(reports[-1].host) for node, reports in on_node.items()}
    nodes = (
        NodeReport(node, tuple((titles[name], text) for name, text in facts[node] if name != "hostname"), len(reports))
        for node, reports in on_node.items()
    )
    return tuple(nodes), tuple(_notes(whole, on_node, list(facts.values())))


def _notes(whole: Whole, on_node: dict[str, list[Report]], facts: Sequence[Facts]) -> Iterator[str]:
    if not on_node:
        yield "No node has begun a part of this run."
        return
    if len(on_node) == 1:
        yield "All figures are of one node."
    else:
        yield (
            "Each group was measured on several nodes, and is ranked on each by itself."
            if whole.replicate > 1
            else "Each group was measured on one node, and is ranked there. "
            "Figures of groups on different nodes differ by the nodes, too."
        )
        different = [each for each in differing(facts) if not each.startswith("Host (")]
        yield (
            f"These nodes differ in {listing(different)}."
            if different
            else "These nodes differ in nothing that was recorded but their names."
        )
        yield from _other_versions(on_node)
        runtimes = sorted({report.runtime for reports in on_node.values() for report in reports})
        if len(runtimes) > 1:
            yield f"The nodes have different runtimes ({listing(runtimes)}): --runtime names one for all."
    programs = {report.orchestrator_version for reports in on_node.values() for report in reports}
    if programs != {whole.orchestrator_version}:
        yield (
            f"The orchestrator is {listing(sorted(programs))} on the nodes, and {whole.orchestrator_version} where the "
            "run was submitted."
        )


def _other_versions(on_node: dict[str, list[Report]]) -> Iterator[str]:
    """Yield a line on images of one name that hold other versions on other nodes."""
    held: dict[str, set[tuple[str, ...]]] = {}
    for image in (image for reports in on_node.values() for report in reports for image in report.images):
        if image.versions:
            held.setdefault(image.name, set()).add(image.versions)
    other = [name for name, versions in held.items() if len(versions) > 1]
    if other:
        verb, these = ("does", "the image") if len(other) == 1 else ("do", "them")
        yield (
            f"{listing_of(other, _MOST_NAMED)} {verb} not hold the same versions on all nodes: "
            f"what differs may be in {these}, not in the nodes."
        )
