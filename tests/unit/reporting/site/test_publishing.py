"""A site over stored runs: what it holds, and what another call reads and writes."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.domain import Mode, Status, Workload
from orchestrator.errors import InputError
from orchestrator.modes.parts.lengths import Generation
from orchestrator.regression.history.read import measured_cells
from orchestrator.reporting.findings import compose
from orchestrator.reporting.site.courses import SeriesQuestion
from orchestrator.reporting.site.encoding import decoded
from orchestrator.reporting.site.publishing import Published, RunToPublish, SiteContent, publish
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s
from tests.unit.reporting.site.reading import document, index_of, rows

CORPUS = Path(__file__).parents[3] / "guard" / "corpus"
Publish = Callable[..., Published]


def site_of(results: Path) -> SiteContent:
    every = tuple(RunToPublish(run) for run in runs(results))
    return SiteContent(every, {"watches": []}, {"searches": []}, SeriesQuestion(0.02), "", "results")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    cells = (s.cell(s.TORCH, repeats=3), s.cell(s.MXNET, repeats=2))
    for name in ("20260102T030405Z-aaaa", "20260103T030405Z-bbbb"):
        stored_run(folder, name, cells)
    return folder


@pytest.fixture
def again(results: Path, tmp_path: Path) -> Publish:
    """Publish the results as they are now."""

    def call(**settings: bool) -> Published:
        return publish(site_of(results), tmp_path / "site", lambda line: None, **settings)

    return call


@pytest.mark.parametrize("folder", ["hosts", "work", "parity", "outcomes"])
def test_throughputs_are_those_of_reports(folder: str, tmp_path: Path) -> None:
    """A site and a report say the same of every cell whose repeats were measured alike."""
    publish(site_of(CORPUS / folder), tmp_path, lambda line: None)

    shown = rows(tmp_path, "throughput")
    found = 0
    for run in runs(CORPUS / folder):
        for cell in compose.report(run).cells:
            if cell.cell.script or not cell.measurement or cell.cell.workload.searches:
                continue
            value, width = shown[run.name, cell.cell.id]
            rate = cell.measurement.throughput
            assert value == pytest.approx(rate.value, rel=1e-4), cell.cell.id
            if rate.high is not None:
                assert width == pytest.approx(math.log(rate.high / rate.value) * 1e4, abs=2)
            found += 1
    assert found >= 5


def test_all_metrics_are_those_of_the_history(tmp_path: Path) -> None:
    """A site and a history take every figure from the same repeats."""
    publish(site_of(CORPUS / "nights"), tmp_path / "site", lambda line: None)
    index = index_of(tmp_path / "site")
    shown = {metric["name"]: rows(tmp_path / "site", metric["name"]) for metric in index["metrics"]}

    cells = measured_cells(CORPUS / "nights", tmp_path / "cache")

    assert len(cells) > 40
    for cell in cells:
        for metric, value, _ in cell.figures:
            assert shown[metric][cell.run, cell.cell_id][0] == pytest.approx(value, rel=1e-4)


def test_each_cell_names_its_sample(tmp_path: Path) -> None:
    """The throughput of a generation is in tokens, and that of training in samples."""
    generation = Workload("decoder", Mode.GENERATE, 8, generation=Generation(16, 32))
    cells = (s.cell(s.TORCH), s.cell(s.TORCH, generation))
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa", cells)

    publish(site_of(tmp_path / "results"), tmp_path / "site", lambda line: None)

    assert decoded(index_of(tmp_path / "site")["cells"]["sample"]) == ["sample", "token"]


def test_a_second_call_reads_nothing(again: Publish, tmp_path: Path) -> None:
    first = again()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "site" / "data").iterdir()}

    second = again()

    assert (first.runs, first.read, first.repeats) == (2, 2, 10)
    assert (second.runs, second.read, second.written) == (2, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "site" / "data").iterdir()} == before


def test_one_more_run_reads_that_run_alone(again: Publish, results: Path, tmp_path: Path) -> None:
    again()
    old = index_of(tmp_path / "site")
    stored_run(results, "20260104T030405Z-cccc", (s.cell(s.TORCH, repeats=3),))

    published = again()

    new = index_of(tmp_path / "site")
    assert (published.runs, published.read) == (3, 1)
    assert new["runs"]["file"][:2] == old["runs"]["file"]
    assert len(rows(tmp_path / "site", "throughput")) == 5


def test_order_of_publishing_changes_no_file(again: Publish, results: Path, tmp_path: Path) -> None:
    """A site that was brought up to date is that of one call."""
    again()
    stored_run(results, "20260101T030405Z-0000", (s.cell(s.TORCH, repeats=3),))
    again()
    publish(site_of(results), tmp_path / "other", lambda line: None)

    names = [sorted(path.name for path in (tmp_path / each / "data").iterdir()) for each in ("site", "other")]
    assert names[0] == names[1]
    assert (tmp_path / "site" / "index.html").read_text() == (tmp_path / "other" / "index.html").read_text()


def test_a_changed_outcome_is_read_again(again: Publish, results: Path, tmp_path: Path) -> None:
    again()
    run = Run(results / "20260103T030405Z-bbbb")
    cell = s.cell(s.TORCH, repeats=3)
    run.write_outcome(s.failed(cell, 1, Status.OOM_HOST, "out of memory").outcome)

    published = again()

    index = index_of(tmp_path / "site")
    assert (published.read, published.repeats) == (1, 9)
    assert index["ends"]["ok"] == [2]
    assert decoded(index["ends"]["status"]) == ["oom_host"]
    details = document(tmp_path / "site", document(tmp_path / "site", index["runs"]["file"][1])["files"][0])
    assert details["cells"][0]["repeats"]["reason"][1] == "out of memory"


def test_files_of_a_removed_run_go(again: Publish, results: Path, tmp_path: Path) -> None:
    again()
    gone = index_of(tmp_path / "site")["runs"]["file"][0]
    (results / "20260102T030405Z-aaaa").rename(tmp_path / "elsewhere")

    again()

    assert index_of(tmp_path / "site")["runs"]["run"] == ["20260103T030405Z-bbbb"]
    assert not (tmp_path / "site" / "data" / f"{gone}.js").exists()


@pytest.mark.parametrize("of_details", [True, False])
@pytest.mark.parametrize("damage", ["", "bench.put(", 'bench.put("r",{"files":[]})\n', None])
def test_a_damaged_file_is_made_again(again: Publish, tmp_path: Path, damage: str | None, of_details: bool) -> None:
    again()
    name = index_of(tmp_path / "site")["runs"]["file"][0]
    name = document(tmp_path / "site", name)["files"][0] if of_details else name
    file = tmp_path / "site" / "data" / f"{name}.js"
    sound = file.read_text()
    file.unlink() if damage is None else file.write_text(damage)

    again()

    assert file.read_text() == sound


def test_whole_reads_every_run(again: Publish) -> None:
    again()

    published = again(whole=True)

    assert (published.read, published.written) == (2, 0)


def test_what_is_no_site_is_never_replaced(again: Publish, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")

    with pytest.raises(InputError, match=r"holds index\.html, and no site"):
        again()
    assert (tmp_path / "site" / "index.html").read_text() == "mine"


@pytest.mark.parametrize("record", ["", "[]", '{"format":"site/1"}', '{"format":"other","files":{},"runs":{}}'])
def test_a_folder_with_another_record_is_refused(again: Publish, tmp_path: Path, record: str) -> None:
    again()
    (tmp_path / "site" / "published.json").write_text(record)

    with pytest.raises(InputError, match="and no site"):
        again()


def test_a_record_leads_to_no_other_file(again: Publish, tmp_path: Path) -> None:
    again()
    record = tmp_path / "site" / "published.json"
    other = tmp_path / "precious"
    other.write_text("mine")
    record.write_text(record.read_text().replace('"files":{', '"files":{"../precious":4,"data/../../precious":4,'))

    again()

    assert other.read_text() == "mine"


def test_an_unreadable_run_is_named(again: Publish, results: Path, tmp_path: Path) -> None:
    (results / "20260103T030405Z-bbbb" / "run.json").write_text("{")

    published = again()

    assert published.runs == 1
    assert len(published.problems) == 1
    assert "20260103T030405Z-bbbb" in published.problems[0]
    assert index_of(tmp_path / "site")["problems"] == list(published.problems)


def test_cells_of_other_work_are_apart(tmp_path: Path) -> None:
    """The pairs that a report does not compare are apart in the site, and no others."""
    publish(site_of(CORPUS / "parity"), tmp_path, lambda line: None)
    index = index_of(tmp_path)
    (run,) = runs(CORPUS / "parity")
    ids = decoded(index["cells"]["id"])

    apart = {frozenset((ids[one], ids[other])) for one, other, _ in index["apart"]}

    reported = set()
    for group in compose.report(run).groups:
        measured = group.places[: len(group.parity)]
        for place, one in enumerate(measured):
            for other, pair in zip(measured, group.parity[place], strict=True):
                if pair is not None and pair.is_other_work:
                    reported.add(frozenset((one.cell_id, other.cell_id)))
    assert reported
    assert reported <= apart


def test_an_interrupted_call_leaves_the_site(again: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page that is there keeps all files that it names until the new one is in its place."""
    again()
    page = (tmp_path / "site" / "index.html").read_text()
    stored_run(tmp_path / "results", "20260104T030405Z-cccc")

    def full(source: object, target: object, **_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Exception, match="No space left"):
        again()
    monkeypatch.undo()

    assert (tmp_path / "site" / "index.html").read_text() == page
    assert len(rows(tmp_path / "site", "throughput")) == 4
    assert again().runs == 3
