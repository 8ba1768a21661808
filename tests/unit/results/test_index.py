import os
import sqlite3
import threading
from dataclasses import fields, replace
from pathlib import Path

import pytest

from orchestrator.domain import Outcome, Status
from orchestrator.results.listing import index
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic

NAME = "20260102T030405Z-abcd"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """One run of two cells: one repeat ok, one timed out, two to come; and one skip."""
    return write_run(tmp_path / "results", NAME)


def write_run(results: Path, name: str) -> Path:
    cells = [synthetic.cell(synthetic.TORCH, repeats=2), synthetic.cell(synthetic.MXNET, repeats=2)]
    plan = synthetic.plan(cells, (synthetic.Skip("x/y", "excluded"),))
    run = Run(results / name)
    run.write_record(synthetic.record(plan, name))
    run.write_outcome(
        Outcome(cells[0].id, 0, Status.OK, "", "a/log.txt", 1, "2026-01-02T03:00:00Z", 10.0, 0.25, 0, "sha256:1")
    )
    run.write_outcome(Outcome(cells[1].id, 1, Status.TIMEOUT, "slow", None, 2, "2026-01-02T03:01:00Z", 30.0))
    return results


def outcomes(results: Path, cache: Path) -> tuple[Outcome, ...]:
    (recorded,) = index.recorded(results, cache, (NAME,))
    return recorded.outcomes


def database(cache: Path) -> Path:
    return next(cache.glob("*.sqlite"))


def test_run_is_listed_from_its_files(results: Path, tmp_path: Path) -> None:
    """A run is listed with what its files say."""
    (summary,) = index.summaries(results, tmp_path / "cache")

    assert summary == index.RunSummary(
        name=NAME,
        created_at="2026-01-02T03:04:05+00:00",
        matrix="example",
        runtime="docker",
        host="bench-1",
        cells=2,
        planned=4,
        skips=1,
        counts=((Status.OK, 1), (Status.TIMEOUT, 1)),
        wall_s=90.0,
    )
    assert summary.pending == 2


def test_outcomes_come_back_equal_to_what_was_written(results: Path, tmp_path: Path) -> None:
    found = outcomes(results, tmp_path / "cache")

    run = Run(results / NAME)
    assert set(found) == set(run.outcomes(run.plan().cells))
    assert {type(outcome.status) for outcome in found} == {Status}


def test_several_runs_are_read_in_their_order(results: Path, tmp_path: Path) -> None:
    """With the reason that a record cannot be read."""
    broken, unknown = "20260103T030405Z-ffff", "20260104T030405Z-ffff"
    (write_run(results, broken) / broken / "run.json").write_text("{")

    first, second, third = index.recorded(results, tmp_path / "cache", (broken, NAME, unknown))
    assert (len(first.outcomes), "run.json: not " in first.problem) == (2, True)
    assert (len(second.outcomes), second.problem) == (2, "")
    assert (third.outcomes, third.problem) == ((), "")


def test_what_changes_on_disk_changes_in_the_index(results: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    index.summaries(results, cache)
    run = Run(results / NAME)
    (failed,) = (outcome for outcome in outcomes(results, cache) if outcome.status is Status.TIMEOUT)

    run.write_outcome(replace(failed, status=Status.OK, reason="", attempts=3))
    (run.repeat_folder("torch-2.13.0-cpu/lenet-train-b200", 0) / "outcome.json").unlink()
    write_run(results, "20260103T030405Z-ffff")

    first, second = index.summaries(results, cache)
    assert (first.counts, second.counts) == (((Status.OK, 1),), ((Status.OK, 1), (Status.TIMEOUT, 1)))
    assert [outcome.attempts for outcome in outcomes(results, cache)] == [3]


def test_rewritten_record_is_read_again(results: Path, tmp_path: Path) -> None:
    index.summaries(results, tmp_path / "cache")
    run = Run(results / NAME)
    run.write_record(run.record().model_copy(update={"runtime": "venv"}))

    (summary,) = index.summaries(results, tmp_path / "cache")

    assert (summary.runtime, len(summary.counts)) == ("venv", 2)


def test_a_run_that_is_gone_leaves_the_list(results: Path, tmp_path: Path) -> None:
    index.summaries(results, tmp_path / "cache")
    (results / NAME / "run.json").unlink()

    assert index.summaries(results, tmp_path / "cache") == ()
    assert outcomes(results, tmp_path / "cache") == ()


def test_unchanged_files_are_not_read_again(results: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = (index.summaries(results, cache), outcomes(results, cache))
    for path in results.rglob("*.json"):
        stat = path.stat()
        path.write_bytes(path.read_bytes().replace(b'"docker"', b'"tarred"').replace(b'"slow"', b'"fast"'))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert (index.summaries(results, cache), outcomes(results, cache)) == before


@pytest.mark.parametrize("spoil", ["garbage", "truncated", "newer", "missing table", "directory"])
def test_unusable_index_is_built_again(results: Path, tmp_path: Path, spoil: str) -> None:
    cache = tmp_path / "cache"
    before = index.summaries(results, cache)
    path = database(cache)
    match spoil:
        case "garbage":
            path.write_bytes(b"not a database" * 1000)
        case "truncated":
            path.write_bytes(path.read_bytes()[:5000])
        case "newer" | "missing table":
            with sqlite3.connect(path) as connection:
                connection.execute("PRAGMA user_version = 99" if spoil == "newer" else "DROP TABLE outcome")
            connection.close()
        case "directory":
            path.unlink()
            path.mkdir()

    assert index.summaries(results, cache) == before
    if spoil != "directory":
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (9,)
            assert connection.execute("SELECT count(*) FROM outcome").fetchone() == (2,)
        connection.close()


def test_runs_are_listed_without_a_cache_folder(results: Path, tmp_path: Path) -> None:
    """A cache folder that cannot be made does not matter."""
    (tmp_path / "file").write_text("")

    (summary,) = index.summaries(results, tmp_path / "file" / "cache")

    assert summary.planned == 4


def test_run_with_broken_record_shows_its_problem(results: Path, tmp_path: Path) -> None:
    """A run with a broken record is listed with its problem."""
    (results / NAME / "run.json").write_text("{")

    (summary,) = index.summaries(results, tmp_path / "cache")

    assert "not a run record" in summary.problem
    assert summary.counts == ((Status.OK, 1), (Status.TIMEOUT, 1))


def test_an_unreadable_outcome_counts_as_pending(results: Path, tmp_path: Path) -> None:
    path = Run(results / NAME).repeat_folder("torch-2.13.0-cpu/lenet-train-b200", 0) / "outcome.json"
    path.write_text("{")

    (summary,) = index.summaries(results, tmp_path / "cache")

    assert (summary.counts, summary.pending) == (((Status.TIMEOUT, 1),), 3)


def test_no_results_folder_is_no_runs(tmp_path: Path) -> None:
    assert index.summaries(tmp_path / "nowhere", tmp_path / "cache") == ()


def test_two_results_folders_do_not_mix(results: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", "20260105T030405Z-0000")

    assert [run.name for run in index.summaries(results, tmp_path / "cache")] == [NAME]
    assert [run.name for run in index.summaries(other, tmp_path / "cache")] == ["20260105T030405Z-0000"]


def test_nothing_is_written_beside_the_results(results: Path, tmp_path: Path) -> None:
    before = sorted(results.rglob("*"))

    index.summaries(results, tmp_path / "cache")

    assert sorted(results.rglob("*")) == before


def test_many_may_use_it_at_once(results: Path, tmp_path: Path) -> None:
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(index.summaries(results, tmp_path / "cache"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert all(each == found[0] for each in found)


def test_every_field_of_an_outcome_has_its_column(results: Path, tmp_path: Path) -> None:
    index.summaries(results, tmp_path / "cache")
    connection = sqlite3.connect(database(tmp_path / "cache"))
    columns = [row[1] for row in connection.execute("PRAGMA table_info(outcome)")]
    connection.close()

    assert columns[-len(fields(Outcome)) :] == [field.name for field in fields(Outcome)]


def test_what_a_container_left_is_never_walked(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeat without outcome may hold any number of folders, nested as deep as its container liked."""
    open_repeat = Run(results / NAME).repeat_folder("torch-2.13.0-cpu/lenet-train-b200", 1)
    open_repeat.mkdir()
    folder = os.open(open_repeat, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    seen: list[str] = []
    scandir = os.scandir

    def scanned(path: str) -> object:
        seen.append(str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scanned)
    (summary,) = index.summaries(results, tmp_path / "cache")

    assert summary.counts == ((Status.OK, 1), (Status.TIMEOUT, 1))
    assert not [path for path in seen if path.startswith(str(open_repeat))]
