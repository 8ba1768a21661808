"""The page of the published studies, written from their stored runs.

    python -m bench.studies [RESULTS …] [-o docs/studies.md]

RESULTS are results folders, or folders of such: `make studies-quick` leaves one for each study in `results/studies`.
Of each study the latest run counts, and the latest smoke run beside it.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bench.records import ROOT
from orchestrator.errors import InputError
from orchestrator.reporting.blocks import Block, Heading, Items, Paragraph, Remark, table
from orchestrator.reporting.findings.claim_findings import ClaimFinding, ClaimVerdict
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.findings.model import CellReport, Report
from orchestrator.reporting.formats import markdown
from orchestrator.reporting.inline import Phrase, rate_interval, ratio_interval, statuses
from orchestrator.reporting.reports.run.claims import claim_blocks, ours, published
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.wording import clean_line, counted, rate

PAGE = ROOT / "docs" / "studies.md"
RESULTS = ROOT / "results" / "studies"
CONCLUSIONS = (
    (ClaimVerdict.SAME_DIRECTION, "What stands on this hardware"),
    (ClaimVerdict.OTHER_DIRECTION, "What falls on this hardware"),
    (ClaimVerdict.UNDECIDED, "What stays undecided"),
    (ClaimVerdict.NOT_JUDGED, "What cannot be judged here"),
)
SMOKE = "A smoke run: it measures too few steps for figures that last, and judges no claim."


def stored_runs(folders: Iterable[Path]) -> Iterator[Run]:
    """Yield the runs of results folders, and of the results folders in them."""
    for folder in folders:
        yield from runs(folder)
        for inner in sorted(each for each in folder.iterdir() if each.is_dir()):
            if not (inner / "run.json").exists():
                yield from runs(inner)


def latest(reports: Iterable[Report]) -> list[Report]:
    """Return the latest full run and the latest smoke run of each study, by its name, full runs first."""
    kept: dict[tuple[str, bool], Report] = {}
    for report in sorted(reports, key=lambda each: (each.created_at, each.run)):
        if report.study is not None:
            kept[report.matrix, report.study.smoke_run] = report
    return [kept[key] for key in sorted(kept)]


def page(reports: Sequence[Report]) -> str:
    """Return the page as Markdown."""
    return "".join(markdown.texts(_blocks(reports)))


def _blocks(reports: Sequence[Report]) -> Iterator[Block]:
    yield Heading("Published studies, measured again", 1)
    said = (
        " from the stored runs that are named here. Every planned cell and every claim is on this page. "
        "The direction of a claim is judged and not its size, as hardware differs."
    )
    yield Paragraph(("Written by ", Phrase("python -m bench.studies", "code"), said))
    heads = ("Study", "Run", "Repeats", *(verdict.value.capitalize() for verdict in ClaimVerdict))
    yield table(heads, (_summary(report) for report in reports), range(3, len(heads)))
    for verdict, title in CONCLUSIONS:
        lines = tuple(_conclusion(*each) for each in _judged(reports) if each[1].verdict is verdict)
        yield Heading(title)
        yield Items(lines) if lines else Paragraph("No claim.")
    for report in reports:
        yield from _of_run(report)


def _summary(report: Report) -> tuple[str, ...]:
    study = report.study
    numbers = dict(study.verdicts) if study else {}
    kind = " (smoke run)" if study and study.smoke_run else ""
    ended = (str(numbers.get(verdict, 0)) for verdict in ClaimVerdict)
    return (report.matrix, f"{report.run}{kind}", statuses(report.statuses), *ended)


def _judged(reports: Sequence[Report]) -> list[tuple[str, ClaimFinding]]:
    """Return every claim once with the name of its study, from a full run where there is one."""
    findings: dict[tuple[str, str], ClaimFinding] = {}
    for report in reports:
        for finding in report.study.claims if report.study else ():
            findings.setdefault((report.matrix, finding.claim.name), finding)
    return [(name, finding) for (name, _), finding in findings.items()]


def _conclusion(study: str, finding: ClaimFinding) -> str:
    interval = f" ({ratio_interval(finding.low, finding.high)})" if finding.low is not None else ""
    here = f", here {ours(finding)}{interval}" if finding.ratio is not None else ""
    reason = f": {finding.reason}" if finding.reason else ""
    return f"{study}: {finding.claim.text}. Published {published(finding)}{here}{reason}"


def _of_run(report: Report) -> Iterator[Block]:
    study = report.study
    if study is None:
        return
    yield Heading(f"{report.matrix}, run {report.run}")
    if study.smoke_run:
        yield Remark(SMOKE)
    host = dict(report.host)
    where = ", ".join(host[name] for name in ("cpu", "machine", "kernel") if name in host)
    yield Paragraph(f"{report.created_at}, runtime {report.runtime}{where and f', {where}'}.")
    yield from claim_blocks(study)
    yield Heading(f"Cells of {report.matrix}, run {report.run}", 3)
    yield Paragraph(f"{counted(len(report.cells), 'planned cell')}, {len(report.skips):,} skipped by the plan.")
    yield table(("Cell", "Repeats", "Samples/s", "95 % interval", "Reason"), map(_cell, report.cells), (2, 3))
    if report.skips:
        yield table(("Skipped", "Reason"), [(skip.cell_id, skip.reason) for skip in report.skips])


def _cell(cell: CellReport) -> tuple[str, ...]:
    reasons = dict.fromkeys(repeat.outcome.reason for repeat in cell.repeats if repeat.outcome.reason)
    measured = cell.measurement
    figures = (rate(measured.throughput.value), rate_interval(measured.throughput)) if measured else ("–", "–")
    return (clean_line(cell.cell.id), statuses(cell.statuses), *figures, clean_line("; ".join(reasons)) or "–")


def main() -> None:
    """Write the page from the runs in the given folders."""
    parser = argparse.ArgumentParser(prog="python -m bench.studies", description="Write the page of the studies.")
    parser.add_argument("results", nargs="*", type=Path, default=[RESULTS])
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    options = parser.parse_args()
    missing = [str(folder) for folder in options.results if not folder.is_dir()]
    if missing:
        parser.error(f"no folder {', '.join(missing)}; `make studies-quick` leaves results/studies")
    try:
        reports = latest(map(read_report, stored_runs(options.results)))
    except InputError as error:
        sys.exit("\n".join(error.messages))
    if not reports:
        parser.error("no run of a study in these folders; `make studies-quick` measures all")
    options.output.write_text(page(reports), encoding="utf-8")
    print(options.output)


if __name__ == "__main__":
    main()
