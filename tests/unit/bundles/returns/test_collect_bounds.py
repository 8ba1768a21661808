"""Files of measured programs are carried up to a limit for each repeat, and counted."""

import os
from pathlib import Path

import pytest

from orchestrator.bundles.returns import launch_files
from orchestrator.bundles.returns.collect import Collected, collect
from orchestrator.bundles.returns.launch_files import LaunchFiles, launch_of
from orchestrator.bundles.returns.merge import merge
from orchestrator.domain import OutputLimit
from orchestrator.results.store import Run
from tests.unit.bundles.returns.returning_runs import RUN, a_run, content

pytestmark = pytest.mark.ordinary_user


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return a_run(tmp_path / "far" / "results")


def repeat(run: Run, number: int = 0) -> Path:
    return run.repeat_folder(run.plan().cells[0].id, number)


def collected(run: Run, tmp_path: Path) -> tuple[Collected, dict[str, bytes]]:
    """Collect a run and merge it elsewhere; give what was collected, and the files that arrived."""
    found = collect([run], tmp_path / "r.tar.zst", "0.1.0")
    merge(tmp_path / "r.tar.zst", tmp_path / "home")
    return found, content(tmp_path / "home")


def test_a_sparse_file_is_never_read_through(run: Run, tmp_path: Path) -> None:
    own = len(content(run.folder))
    with (repeat(run) / "model.ckpt").open("wb") as file:
        file.truncate(2**43)
    found, arrived = collected(run, tmp_path)

    assert len(arrived) == own
    (line,) = found.left_out
    assert "/0': 1 files of 8,796,093.0 MB, beyond 1,000 files and 64 MiB" in line


def test_only_so_many_files_are_carried(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_files, "FOREIGN", OutputLimit(2**20, 10))
    own = len(content(run.folder))
    for number in range(100):
        (repeat(run) / f"f{number:03}").write_text("x")
    found, arrived = collected(run, tmp_path)

    assert len(arrived) == own + 10
    assert {Path(path).name for path in arrived} >= {f"f{number:03}" for number in range(10)}
    assert [line.partition(": ")[2][:8] for line in found.left_out] == ["90 files"]


def test_one_large_file_keeps_no_small_one_out(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_files, "FOREIGN", OutputLimit(1000, 10))
    (repeat(run) / "a").write_bytes(bytes(2000))
    (repeat(run) / "b").write_bytes(bytes(900))
    (repeat(run, 1) / "a").write_bytes(bytes(900))
    found, arrived = collected(run, tmp_path)

    assert {path[-3:] for path in arrived} >= {"0/b", "1/a"}
    assert len(found.left_out) == 1


def test_earlier_attempts_are_carried(run: Run, tmp_path: Path) -> None:
    attempt = repeat(run) / "attempt-1"
    attempt.mkdir()
    for name in ("log.txt", "outcome.json", "result.json"):
        (attempt / name).write_text("{}")
    found, arrived = collected(run, tmp_path)

    assert sum("attempt-1" in path for path in arrived) == 3
    assert found.left_out == ()


def test_files_of_contract_names_are_bounded_too(run: Run, tmp_path: Path) -> None:
    """Files that bear a name of the contract are bounded like all others."""
    for path in (repeat(run) / "phase", *(repeat(run) / f"attempt-{number}" / "log.txt" for number in range(1, 30))):
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as file:
            file.truncate(2**40)
    found, _ = collected(run, tmp_path)

    (line,) = found.left_out
    assert ": 30 files of " in line


@pytest.mark.parametrize("rights", [0, 0o444, 0o555])
def test_a_closed_folder_is_opened_and_carried(run: Run, tmp_path: Path, rights: int) -> None:
    closed = repeat(run) / "cache"
    closed.mkdir()
    (closed / "kernel").write_text("x")
    (closed / "kernel").chmod(0)
    closed.chmod(rights)
    found, arrived = collected(run, tmp_path)

    assert found.left_out == ()
    assert any(path.endswith("cache/kernel") for path in arrived)


def test_a_merged_run_is_its_users_own(run: Run, tmp_path: Path) -> None:
    collected(run, tmp_path)

    assert (tmp_path / "home" / RUN).stat().st_mode & 0o777 == 0o700


def test_folders_nested_too_deep_stay_behind(run: Run, tmp_path: Path) -> None:
    folder = os.open(repeat(run), os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    found, arrived = collected(run, tmp_path)

    assert "is nested more than" in found.left_out[0]
    assert len(arrived) == len(content(tmp_path / "home"))


@pytest.mark.parametrize(
    ("path", "launch"),
    [
        ("r/run.json", ""),
        ("r/builds/bench.log", ""),
        ("r/mxnet-cpu/lenet/0/log.txt", "r/mxnet-cpu/lenet/0"),
        ("r/mxnet-cpu/lenet/0/12/log.txt", "r/mxnet-cpu/lenet/0"),
        ("r/parity/mxnet-cpu/lenet/3/log.txt", "r/parity/mxnet-cpu/lenet"),
        ("r/mxnet-cpu/lenet/0", ""),
        ("r/mxnet-cpu/5/0/result.json", "r/mxnet-cpu/5/0"),
        ("r/mxnet-cpu/5/notes/result.json", ""),
        ("r/mxnet-cpu/lenet/notes/0/result.json", ""),
        ("r/scripts/word-lm/0/train.py", ""),
        ("r/builds/a/0/log.txt", ""),
        ("r/models/a/0/log.txt", ""),
    ],
)
def test_the_path_of_a_file_gives_its_launch(path: str, launch: str) -> None:
    assert launch_of(path) == launch


def test_a_flood_is_not_kept_in_memory() -> None:
    files = LaunchFiles("r/a/b/0")
    for number in range(20_000):
        files.add(f"r/a/b/0/{number:06}", 1)

    assert len(files.foreign._first) <= 2 * launch_files.FOREIGN.files
    assert files.carried() == [f"r/a/b/0/{number:06}" for number in range(launch_files.FOREIGN.files)]
    assert ": 19,000 files of 0.0 MB" in files.left_out()
