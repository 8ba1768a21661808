"""The page of the published studies, written from stored runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import studies
from orchestrator.domain import Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.results.store import Run
from orchestrator.studies import Claim, PublishedValue, Study
from tests.unit.reporting import synthetic as s

FAST, SLOW, FAR = s.cell(s.MXNET), s.cell(s.TORCH), s.cell(s.MXNET, system=s.GPU)
STUDY = Study(
    "A study",
    claims=(
        Claim("faster", "MXNet is faster", "throughput", FAST.id, SLOW.id, PublishedValue(1.5), "figure 1"),
        Claim("slower", "MXNet is slower", "throughput", FAST.id, SLOW.id, PublishedValue(0.5), "figure 2"),
        Claim("device", "A GPU is faster", "throughput", FAR.id, FAST.id, PublishedValue(9.0), "figure 3"),
    ),
)


def _report(run: str = "20260102T030405Z-abcd", *, smoke_run: bool = False, name: str = "a-study") -> Report:
    """A run of a study in which a claim stands, another falls, and one cannot be judged."""
    plan = replace(s.plan([FAST, SLOW, FAR]), study=STUDY, name=name)
    stored = [
        *s.ok(FAST, [200, 202, 198], spread=0.001),
        *s.ok(SLOW, [100, 101, 99], spread=0.001),
        *(s.failed(FAR, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs") for repeat in range(3)),
    ]
    report = compose(s.record(plan, run), plan, stored)
    assert report.study is not None
    return replace(report, study=replace(report.study, smoke_run=smoke_run))


def _section(page: str, heading: str) -> str:
    return page.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def test_conclusions_are_sorted_by_what_they_come_to() -> None:
    page = studies.page([_report()])

    assert _section(page, "What stands on this hardware").startswith(
        "- a-study: MXNet is faster. Published 1.500, here 2.0"
    )
    assert _section(page, "What falls on this hardware").startswith(
        "- a-study: MXNet is slower. Published 0.500, here 2.0"
    )
    assert _section(page, "What stays undecided") == "No claim."
    assert "4_gpu needs 4 GPUs" in _section(page, "What cannot be judged here")


def test_every_cell_has_a_row_with_its_outcome() -> None:
    rows = [line for line in studies.page([_report()]).splitlines() if line.startswith(f"| {FAR.id}")]

    assert rows == [f"| {FAR.id} | 3 no_device | – | – | 4_gpu needs 4 GPUs |"]


def test_the_latest_full_run_and_smoke_run_count() -> None:
    first, second = _report("20260102T030405Z-0001"), _report("20260102T030405Z-0002")
    smoke, other = _report("20260102T030405Z-0003", smoke_run=True), _report(name="another")

    kept = studies.latest([second, smoke, other, first, s.example()])

    assert [report.run for report in kept] == [second.run, smoke.run, other.run]


def test_a_claim_is_concluded_once_from_the_full_run() -> None:
    page = studies.page(studies.latest([_report(smoke_run=True), _report("20260102T030405Z-0002")]))

    assert _section(page, "What stands on this hardware").count("MXNet is faster") == 1
    assert page.count("A smoke run: it measures too few steps") == 1


def test_runs_are_found_in_folders_of_results(tmp_path: Path) -> None:
    places = [tmp_path / "20260102T030405Z-0001", tmp_path / "a-study" / "20260102T030405Z-0002"]
    for place in places:
        run = Run(place)
        run.create()
        plan = replace(s.plan([FAST, SLOW]), study=replace(STUDY, claims=STUDY.claims[:1]))
        run.write_record(s.record(plan, run.name))

    assert [run.folder for run in studies.stored_runs([tmp_path])] == places


def test_folders_without_a_study_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["studies", str(tmp_path)])

    with pytest.raises(SystemExit, match="2"):
        studies.main()
