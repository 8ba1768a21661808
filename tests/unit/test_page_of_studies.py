"""The page of the published studies, written from stored runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from bench import studies
from orchestrator.api import CollectOptions, collect, this_host
from orchestrator.domain import Cell, Mode, Skip, Status
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


CELLS = (FAST, SLOW, FAR)
FIRST, SECOND, THIRD = (f"20260102T030405Z-000{number}" for number in (1, 2, 3))


def _report(
    run: str = FIRST, *, smoke_run: bool = False, name: str = "a-study", cells: Sequence[Cell] = CELLS
) -> Report:
    """A run of a study in which a claim stands, another falls, and one cannot be judged."""
    skips = tuple(Skip(f"old-{number}", "no such release") for number in range(3))
    plan = replace(s.plan(cells, skips), study=STUDY, name=name)
    stored = [
        *(s.ok(FAST, [200, 202, 198], spread=0.001) if FAST in cells else ()),
        *(s.ok(SLOW, [100, 101, 99], spread=0.001) if SLOW in cells else ()),
        *(s.failed(FAR, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs") for repeat in range(3) if FAR in cells),
    ]
    report = compose(s.record(plan, run), plan, stored)
    assert report.study is not None
    return replace(report, study=replace(report.study, smoke_run=smoke_run))


def _page(*reports: Report, current: Mapping[str, Sequence[Study]] = MappingProxyType({})) -> str:
    return studies.page(studies.by_study(reports, current))


def _section(page: str, heading: str) -> str:
    return page.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()


def test_conclusions_are_sorted_by_what_they_come_to() -> None:
    page = _page(_report())

    assert _section(page, "What stands on this hardware").startswith(
        "- a-study: MXNet is faster. Published 1.500, here 2.0"
    )
    assert _section(page, "What falls on this hardware").startswith(
        "- a-study: MXNet is slower. Published 0.500, here 2.0"
    )
    assert _section(page, "What stays undecided") == "No claim."
    assert "4_gpu needs 4 GPUs" in _section(page, "What cannot be judged here")


def test_every_cell_has_a_row_with_its_outcome() -> None:
    rows = [line for line in _page(_report()).splitlines() if line.startswith(f"| {FAR.id}")]

    assert rows == [f"| {FAR.id} | 3 no_device | – | – | – | – | – | 4_gpu needs 4 GPUs |"]


def test_operators_have_a_table_of_calls() -> None:
    gemm = s.cell(s.MXNET, replace(s.LENET, model="gemm", mode=Mode("ops"), axes=(("size", 50),)))
    plan = replace(s.plan([gemm]), study=Study("A study"), name="a-study")
    page = _page(compose(s.record(plan, FIRST), plan, s.ok(gemm, [100, 101, 99])))

    assert "| Operator | Repeats | Call, median | Call, p99 | Reason |" in page
    assert "Samples/s" not in page


def test_skips_are_counted_by_their_reason() -> None:
    assert "| no such release | 3 | old-0, old-1 and old-2 |" in _page(_report())


def test_warnings_of_a_run_are_shown() -> None:
    warned = replace(_report(), warnings=("the files of mnist were a stand-in",))

    assert "the files of mnist were a stand-in" in _page(warned)


def test_latest_full_and_smoke_runs_are_shown() -> None:
    reports = [_report(SECOND), _report(THIRD, smoke_run=True), _report(name="another"), _report(FIRST), s.example()]

    assert [[report.run for report in each.shown] for each in studies.by_study(reports)] == [[SECOND, THIRD], [FIRST]]


def test_claim_is_concluded_from_full_run() -> None:
    """A claim is concluded once, from the full run."""
    page = _page(_report(smoke_run=True), _report(SECOND))

    assert _section(page, "What stands on this hardware").count("MXNet is faster") == 1
    assert page.count("A smoke run: it measures too few steps") == 1


def test_claim_needs_a_run_with_its_cells() -> None:
    """A claim is concluded from a run with its cells."""
    (study,) = studies.by_study([_report(FIRST), _report(SECOND, cells=(FAST, SLOW)), _report(THIRD, smoke_run=True)])

    assert {name: report.run for name, (report, _) in study.concluded.items()} == {
        "faster": SECOND, "slower": SECOND, "device": FIRST,
    }  # fmt: skip
    assert [report.run for report in study.shown] == [SECOND, FIRST, THIRD]


def test_a_study_without_a_run_is_named() -> None:
    assert "Not measured: unheard-of." in _page(_report(), current={"unheard-of": [Study("Another")]})


def test_run_of_changed_claims_is_marked() -> None:
    """A run of other claims than those of today is marked."""
    assert studies.CHANGED in _page(_report(), current={"a-study": [replace(STUDY, claims=STUDY.claims[:2])]})
    assert studies.CHANGED not in _page(_report(), current={"a-study": [STUDY]})


def test_smoke_run_answers_smoke_claims() -> None:
    """A smoke run is compared with the claims of a smoke run."""
    current = {"a-study": [STUDY, replace(STUDY, claims=STUDY.claims[:2])]}

    assert studies.CHANGED in _page(_report(smoke_run=True), current=current)
    assert studies.CHANGED not in _page(_report(), current=current)


def test_each_run_has_a_page_of_its_own(tmp_path: Path) -> None:
    text = _page(_report(), _report(SECOND, name="another"))
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "old.md").touch()
    studies.write(text, tmp_path / "page.md")

    whole = (tmp_path / "page.md").read_text()
    parts = {path.name: path.read_text() for path in (tmp_path / "page").iterdir()}
    assert set(parts) == {f"{FIRST}.md", f"{SECOND}.md"}
    assert f"- [a-study, run {FIRST}](page/{FIRST}.md)" in whole
    assert f"| {FAR.id} |" not in whole
    assert f"| {FAR.id} |" in parts[f"{FIRST}.md"]
    assert parts[f"{FIRST}.md"].startswith(f"# a-study, run {FIRST}\n")


def test_files_of_studies_are_planned(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(
        "version: 1\nname: small\nstudy: {title: A small study}\nframeworks: [noop==1]\nmodels: [lenet]\n"
    )

    assert studies.current_studies(tmp_path) == {"small": [Study("A small study")] * 2}


def _stored(place: Path) -> Path:
    """Store a run of the study in a folder of that name."""
    run = Run(place)
    run.create()
    plan = replace(s.plan([FAST, SLOW]), study=replace(STUDY, claims=STUDY.claims[:1]), name="a-study")
    run.write_record(s.record(plan, run.name))
    return place


def test_runs_are_found_in_folders_of_results(tmp_path: Path) -> None:
    places = [_stored(tmp_path / FIRST), _stored(tmp_path / "a-study" / SECOND)]

    assert [run.folder for run in studies.stored_runs([tmp_path])] == places


def test_runs_are_found_in_collected_files_once(tmp_path: Path) -> None:
    here, far, kept = tmp_path / "here", tmp_path / "far", tmp_path / "kept.tar.zst"
    _stored(here / FIRST)
    _stored(far / FIRST)
    _stored(far / SECOND)
    collect(CollectOptions(runs=(FIRST, SECOND), results=far, output=kept), this_host())

    found = list(studies.stored_runs([here, studies.unpacked([kept], tmp_path / "unpacked")]))

    assert [run.folder.relative_to(tmp_path) for run in found] == [Path("here") / FIRST, Path("unpacked") / SECOND]


def test_folders_without_a_study_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["studies", str(tmp_path)])

    with pytest.raises(SystemExit, match="2"):
        studies.main()
