"""The runs that work now, and their needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run
from orchestrator.running.active_runs import announced, images_in_use

PROGRAM = """
import sys, time
from pathlib import Path
from orchestrator.running.active_runs import announced
with announced(Path(sys.argv[1]), Path(sys.argv[2])):
    print("working", flush=True)
    time.sleep(600)
"""


def with_environment(folder: Path) -> Path:
    folder.mkdir()
    Run(folder).write_environments(
        [EnvironmentRecord(image="bench/a:1", status=Status.OK, reference="bench/a:1-c1", image_id="sha256:1")]
    )
    return folder


def test_nobody_at_work_needs_nothing(tmp_path: Path) -> None:
    assert images_in_use(tmp_path).workers == 0


def test_images_are_needed_until_worker_dies(tmp_path: Path) -> None:
    """The images that another process works with are needed until it is killed."""
    run = with_environment(tmp_path / "run")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        try:
            seen = images_in_use(tmp_path)
            assert (seen.workers, seen.references) == (1, {"bench/a:1-c1", "sha256:1"})
        finally:
            process.kill()
    assert images_in_use(tmp_path).workers == 0
    assert list((tmp_path / "working").iterdir()) == [], "and its traces are gone"


@pytest.mark.parametrize("run", [True, False])
def test_who_still_builds_is_not_to_be_disturbed(tmp_path: Path, run: bool) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with announced(tmp_path, folder if run else None), pytest.raises(HostError, match="clean when it has done"):
        images_in_use(tmp_path)


def test_work_leaves_no_trace(tmp_path: Path) -> None:
    with announced(tmp_path, with_environment(tmp_path / "run")):
        assert images_in_use(tmp_path).workers == 1
    assert list((tmp_path / "working").iterdir()) == []


def test_unwritable_cache_stops_no_work(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    with announced(tmp_path / "cache"):
        pass


def test_a_run_may_ask_about_the_others(tmp_path: Path) -> None:
    own, other = tmp_path / "own", with_environment(tmp_path / "other")
    own.mkdir()
    with announced(tmp_path, own), announced(tmp_path, other):
        assert images_in_use(tmp_path, without=own).references == {"bench/a:1-c1", "sha256:1"}
