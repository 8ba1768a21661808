"""The page of the published studies, written from their stored runs.

    python -m bench.studies [RESULTS …] [-o docs/studies.md]

RESULTS are results folders, or folders of such: `make studies-quick` leaves one for each study in `results/studies`.
Files of `orchestrator collect` count as well. By default they are those of `docs/studies`, which the page was written
from.
A claim is that of the latest full run in which both of its cells are planned, or else of the latest smoke run.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.records import ROOT
from orchestrator.api import MergeOptions, PlanOptions, merge, plan, this_host
from orchestrator.errors import InputError
from orchestrator.reporting.blocks import Block, Heading, Items, Paragraph, Remark, table
from orchestrator.reporting.findings.claims.findings import ClaimFinding, ClaimVerdict
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.model import CellReport, Report
from orchestrator.reporting.findings.tables.option_effects import EFFECTS_HEADS, EFFECTS_NOTE, effect_rows
from orchestrator.reporting.formats import markdown
from orchestrator.reporting.inline import (
    EPOCH_HEADS,
    Phrase,
    epoch_figures,
    latency,
    rate_interval,
    ratio_interval,
    statuses,
)
from orchestrator.reporting.reports.run.claims import claim_blocks, ours, published
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.studies import Claim, Study
from orchestrator.wording import clean_line, counted, listing, listing_of, memory, rate

PAGE = ROOT / "docs" / "studies.md"
KEPT = ROOT / "docs" / "studies"
CONCLUSIONS = (
    (ClaimVerdict.SAME_DIRECTION, "What stands on this hardware"),
    (ClaimVerdict.OTHER_DIRECTION, "What falls on this hardware"),
    (ClaimVerdict.UNDECIDED, "What stays undecided"),
    (ClaimVerdict.NOT_JUDGED, "What cannot be judged here"),
)
CHANGED = "The file of the study has changed since: cells and claims are those of this run."
SMOKE = "A smoke run: it measures too few steps for figures that last, and judges no claim."


def stored_runs(folders: Iterable[Path]) -> Iterator[Run]:
    """Yield the runs of results folders, and of the results folders in them. One of several copies is enough."""
    seen: set[str] = set()
    for folder in folders:
        inside = sorted(each for each in folder.iterdir() if each.is_dir() and not (each / "run.json").exists())
        for run in (run for each in (folder, *inside) for run in runs(each)):
            if run.name not in seen:
                seen.add(run.name)
                yield run


def unpacked(files: Iterable[Path], folder: Path) -> Path:
    """Merge the runs of files of `orchestrator collect` into a folder, and return it.

    Raises `InputError` where a file is damaged.
    """
    for file in files:
        merge(MergeOptions(file=file, results=folder), this_host())
    return folder


Conclusion = tuple[str, Report, ClaimFinding]
"""The name of a study, and the run and the finding that count of one of its claims."""


@dataclass(frozen=True, slots=True)
class StudyRuns:
    """The runs of one study, full runs first, the latest of each kind before earlier ones."""

    name: str
    reports: tuple[Report, ...]
    current: Sequence[Study] = ()
    """The study as its file describes it today, for a full run and for a smoke run; none without a file here."""

    @property
    def concluded(self) -> Mapping[str, tuple[Report, ClaimFinding]]:
        """Return the run and the finding that count of each claim, by its name."""
        chosen: dict[str, tuple[Report, ClaimFinding]] = {}
        for both_planned in (True, False):
            for report in self.reports:
                cells = report.by_id
                for finding in report.study.claims if report.study else ():
                    claim = finding.claim
                    if not both_planned or (claim.of in cells and claim.over in cells):
                        chosen.setdefault(claim.name, (report, finding))
        return chosen

    @property
    def shown(self) -> tuple[Report, ...]:
        """Return the latest run of each kind, and every earlier one that a claim is concluded from."""
        latest = {_is_smoke(report): report.run for report in reversed(self.reports)}
        needed = {*latest.values(), *(report.run for report, _ in self.concluded.values())}
        return tuple(report for report in self.reports if report.run in needed)

    def has_changed_since(self, report: Report) -> bool:
        """Return true if the file of the study has other claims today than a run was made with."""
        if not self.current or report.study is None:
            return False
        # The cells of a smoke run may have smaller batches.
        current = self.current[-1 if _is_smoke(report) else 0]
        then, now = ({_identity(claim) for claim in claims} for claims in (
            (finding.claim for finding in report.study.claims), current.claims,
        ))  # fmt: skip
        return then != now


def _identity(claim: Claim) -> tuple[str, str, str, str, float]:
    return claim.name, claim.metric, claim.of, claim.over, claim.published.ratio


def _is_smoke(report: Report) -> bool:
    return report.study is not None and report.study.smoke_run


def by_study(
    reports: Iterable[Report], current: Mapping[str, Sequence[Study]] = MappingProxyType({})
) -> list[StudyRuns]:
    """Return the runs of each study, by its name. A study of `current` without a run is there too."""
    runs_of: dict[str, list[Report]] = {name: [] for name in current}
    for report in sorted(reports, key=lambda each: (each.created_at, each.run), reverse=True):
        if report.study is not None:
            runs_of.setdefault(report.matrix, []).append(report)
    return [
        StudyRuns(name, tuple(sorted(runs_of[name], key=_is_smoke)), current.get(name, ())) for name in sorted(runs_of)
    ]


def current_studies(folder: Path) -> dict[str, list[Study]]:
    """Return the studies of the files in a folder, by the names of their matrices.

    Each is there as a full run and as a smoke run would have it.
    """
    found: dict[str, list[Study]] = {}
    for file in sorted(folder.glob("*.yaml")):
        for is_quick in (False, True):
            planned = plan(PlanOptions(file=file, quick=is_quick), this_host()).plan
            if planned.study:
                found.setdefault(planned.name, []).append(planned.study)
    return found


def page(studies: Sequence[StudyRuns]) -> str:
    """Return the page as Markdown."""
    return "".join(markdown.texts(_blocks(studies)))


def parted(text: str, folder: str) -> tuple[str, dict[str, str]]:
    """Return the page without its runs, which it links to, and the text of a page for each run, by the run's name."""
    whole, *runs_of_studies = re.split(r"^## (.+, run (?:\S+))\n", text, flags=re.MULTILINE)
    parts, links = {}, []
    for title, body in zip(runs_of_studies[::2], runs_of_studies[1::2], strict=True):
        name = title.rpartition(" ")[2]
        above = f"# {title}\n\nPart of [Published studies, measured again](../{folder}.md).\n"
        parts[name] = above + re.sub(r"^###", "##", body, flags=re.MULTILINE).rstrip() + "\n"
        links.append(f"- [{title}]({folder}/{name}.md)\n")
    return whole.rstrip() + "\n\n## The runs\n\n" + "".join(links), parts


def _blocks(studies: Sequence[StudyRuns]) -> Iterator[Block]:
    yield Heading("Published studies, measured again", 1)
    said = (
        " from the stored runs that are named here. Every claim is on this page, and every planned cell on that of its "
        "run. The direction of a claim is judged and not its size, as hardware differs."
    )
    yield Paragraph(("Written by ", Phrase("python -m bench.studies", "code"), said))
    heads = ("Study", "Run", "Hardware", "Repeats", *(verdict.value.capitalize() for verdict in ClaimVerdict))
    yield table(heads, (_summary(report) for each in studies for report in each.shown), range(4, len(heads)))
    if absent := [each.name for each in studies if not each.reports]:
        yield Remark(f"Not measured: {listing(absent)}.", is_warning=True)
    concluded: list[Conclusion] = [(each.name, *known) for each in studies for known in each.concluded.values()]
    for verdict, title in CONCLUSIONS:
        alike = [each for each in concluded if each[2].verdict is verdict]
        is_open = verdict is ClaimVerdict.NOT_JUDGED
        lines = tuple(_not_judged(alike)) if is_open else tuple(_conclusion(*each) for each in alike)
        yield Heading(title)
        yield Items(lines) if lines else Paragraph("No claim.")
    for each in studies:
        for report in each.shown:
            yield from _of_run(report, has_changed=each.has_changed_since(report))


def _summary(report: Report) -> tuple[str, ...]:
    study = report.study
    numbers = dict(study.verdicts) if study else {}
    kind = " (smoke run)" if _is_smoke(report) else ""
    ended = (str(numbers.get(verdict, 0)) for verdict in ClaimVerdict)
    hardware = dict(report.host).get("cpu", "–")
    return (report.matrix, f"{report.run}{kind}", hardware, statuses(report.statuses), *ended)


def _conclusion(study: str, report: Report, finding: ClaimFinding) -> str:
    interval = f" ({ratio_interval(finding.low, finding.high)})" if finding.low is not None else ""
    here = f", here {ours(finding)}{interval}" if finding.ratio is not None else ""
    reason = f": {finding.reason}" if finding.reason else ""
    said = f"{study}: {finding.claim.text}. Published {published(finding)}{here}{reason}"
    # In a smoke run nothing but the reason counts.
    caveats = () if _is_smoke(report) else finding.caveats
    return said + (f". To know: {'; '.join(caveats)}" if caveats else "")


def _not_judged(concluded: Iterable[Conclusion]) -> Iterator[str]:
    """Yield a line for each study and obstacle, with the names of its claims."""
    names: dict[tuple[str, str], list[str]] = {}
    for study, report, finding in concluded:
        names.setdefault((study, _obstacle(report, finding)), []).append(finding.claim.name)
    for (study, obstacle), claims in names.items():
        yield f"{study}, {counted(len(claims), 'claim')}: {obstacle} ({', '.join(claims)})"


def _obstacle(report: Report, finding: ClaimFinding) -> str:
    """Return the reason that a claim was not judged without the ids of its cells, which other claims do not share."""
    if finding.claim.flaw:
        return finding.reason
    cells, skipped = report.by_id, {skip.cell_id: skip.reason for skip in report.skips}
    obstacles: list[str] = []
    for cell_id in (finding.claim.of, finding.claim.over):
        cell = cells.get(cell_id)
        if cell is None:
            obstacles.append(f"left out: {skipped.get(cell_id, 'not in this run')}")
        elif cell.measurement is None:
            ends = (repeat.outcome for repeat in cell.repeats)
            obstacles += (f"{each.status.value}: {each.reason}" for each in ends)
    return "; ".join(dict.fromkeys(obstacles)) or finding.reason


def _of_run(report: Report, *, has_changed: bool) -> Iterator[Block]:
    study = report.study
    if study is None:
        return
    yield Heading(f"{report.matrix}, run {report.run}")
    if study.smoke_run:
        yield Remark(SMOKE)
    if has_changed:
        yield Remark(CHANGED, is_warning=True)
    host = dict(report.host)
    where = ", ".join(host[name] for name in ("cpu", "machine", "kernel") if name in host)
    yield Paragraph(f"{report.created_at}, runtime {report.runtime}{where and f', {where}'}.")
    yield from (Remark(warning, is_warning=True) for warning in report.warnings)
    yield from claim_blocks(study)
    yield Heading(f"Cells of {report.matrix}, run {report.run}", 3)
    yield Paragraph(f"{counted(len(report.cells), 'planned cell')}, {len(report.skips):,} skipped by the plan.")
    models, operators = (
        [cell for cell in report.cells if bool(cell.cell.workload.rules.subjects) is wanted] for wanted in (False, True)
    )
    if models:
        yield table(_MODEL_HEADS, map(_model, models), range(2, len(_MODEL_HEADS) - 1))
    if operators:
        yield table(_OPERATOR_HEADS, map(_operator, operators), range(2, len(_OPERATOR_HEADS) - 1))
    effects = [(group.label, *row) for group in report.groups for row in effect_rows(group, report.by_id)]
    if effects:
        yield Heading(f"Options of {report.matrix}, run {report.run}", 3)
        yield Paragraph(EFFECTS_NOTE)
        yield table(("Cells", *EFFECTS_HEADS), effects, (4, 5))
    if report.skips:
        yield Heading(f"Skipped by the plan of {report.matrix}, run {report.run}", 3)
        yield table(("Reason", "Cells", "Such as"), _skips(report), (1,))


_MODEL_HEADS = ("Cell", "Repeats", "Samples/s", "95 % interval", "Total time", "Test accuracy", "Memory", "Reason")
_OPERATOR_HEADS = ("Operator", "Repeats", "Call, median", "Call, p99", "Reason")


def _model(cell: CellReport) -> tuple[str, ...]:
    measured = cell.measurement
    figures: tuple[str, ...] = ("–",) * (len(_MODEL_HEADS) - 3)
    if measured:
        epochs = dict(zip(EPOCH_HEADS, epoch_figures(measured.epochs), strict=True)) if measured.epochs else {}
        total, accuracy = (epochs[head].text if epochs else "–" for head in ("Total time", "Test accuracy"))
        throughput = measured.throughput
        figures = (rate(throughput.value), rate_interval(throughput), total, accuracy, memory(measured.peak_rss_bytes))
    return (clean_line(cell.cell.id), statuses(cell.statuses), *figures, _reason(cell))


def _operator(cell: CellReport) -> tuple[str, ...]:
    measured = cell.measurement
    median, tail, _ = latency(measured.latency) if measured else ("–",) * 3
    return (clean_line(cell.cell.id), statuses(cell.statuses), median, tail, _reason(cell))


def _reason(cell: CellReport) -> str:
    reasons = dict.fromkeys(repeat.outcome.reason for repeat in cell.repeats if repeat.outcome.reason)
    return clean_line("; ".join(reasons)) or "–"


def _skips(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield a row for each reason, with how many cells it leaves out, and some of them."""
    alike: dict[str, list[str]] = {}
    for skip in report.skips:
        alike.setdefault(skip.reason, []).append(skip.cell_id)
    for reason, ids in alike.items():
        yield reason, f"{len(ids):,}", listing_of(ids, 2)


def main() -> None:
    """Write the page from the runs in the given folders."""
    parser = argparse.ArgumentParser(prog="python -m bench.studies", description="Write the page of the studies.")
    parser.add_argument("results", nargs="*", type=Path, default=sorted(KEPT.glob("*.tar.zst")))
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    options = parser.parse_args()
    missing = [str(each) for each in options.results if not each.exists()]
    if missing:
        parser.error(f"there is no {', '.join(missing)}; `make studies-quick` leaves results/studies")
    folders = [each for each in options.results if each.is_dir()]
    with tempfile.TemporaryDirectory() as kept:
        try:
            merged = unpacked((each for each in options.results if not each.is_dir()), Path(kept))
            studies = by_study(map(read_report, stored_runs([*folders, merged])), current_studies(ROOT / "studies"))
        except InputError as error:
            sys.exit("\n".join(error.messages))
        if not any(each.reports for each in studies):
            parser.error("no run of a study is there; `make studies-quick` measures all")
        write(page(studies), options.output)
    print(options.output)


def write(text: str, output: Path) -> None:
    """Write the page, and a page for each run into the folder of its name, in place of those that are there."""
    folder = output.with_suffix("")
    whole, parts = parted(text, folder.name)
    output.write_text(whole, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    for name, part in parts.items():
        (folder / f"{name}.md").write_text(part, encoding="utf-8")


if __name__ == "__main__":
    main()
