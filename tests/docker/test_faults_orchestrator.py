"""The orchestrator itself is killed, interrupted, run twice, or loses its disk: nothing is lost, nothing is doubled."""

import codecs
import contextlib
import os
import random
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import docker
import faults_support as support
import pytest
import run_support

from orchestrator.domain import Status
from orchestrator.results.store import Run
from tests.required import missing
from tests.until import LIMIT_S, until

pytestmark = pytest.mark.docker
CELL_LIMIT_S = 6.0
"""The time limit of the matrix."""


@pytest.fixture(scope="module")
def place(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix of three short repeats, whose image is there."""
    folder = support.workplace(tmp_path_factory.mktemp("place"), base_image, "slow", "slow", "slow", name="slow")
    ended = support.run(folder, results="first")
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="module")
def hanging(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix whose second repeat hangs, until it is attempted again."""
    folder = support.workplace(tmp_path_factory.mktemp("hanging"), base_image, "fine", "hang", "fine", name="hanging")
    matrix = folder / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("timeout: 6s", "timeout: 2m"))
    assert subprocess.run(support.command("build")[:-2], cwd=folder, check=False).returncode == 0
    return folder


def hangs(results: Path) -> bool:
    return any("hanging" in path.read_text() for path in results.glob(f"*/{support.CELL}/1/log.txt"))


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own, of a size that fills up."""
    if os.getuid() != 0:
        missing("only root may mount", "BENCH_REQUIRE_ENGINE")
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that other users can reach."""
    with tempfile.TemporaryDirectory(prefix="bench-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("times", [1, 2])
def test_interrupt_leaves_the_rest_and_no_container(hanging: Path, engine: docker.DockerClient, times: int) -> None:
    """An interrupt leaves the rest to the next run, and leaves no container."""
    results = hanging / f"interrupted-{times}"
    process = support.start(hanging, results=str(results))
    support.until(lambda: hangs(results), process)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=LIMIT_S)

    assert process.returncode == 130, said
    assert "Traceback" not in said
    first = support.outcomes(results)
    assert first[0]["status"] == "ok"
    if times == 1:
        assert first[1]["status"] == "not_run"
        assert 2 not in first
        assert support.ours(engine, results) == []
        assert "go on with: orchestrator run --resume" in said

    ended = support.run(hanging, "--resume", "latest", results=str(results))
    assert ended.returncode == 0, ended.stderr
    assert support.statuses(results) == ["ok"] * 3
    assert support.outcomes(results)[0] == first[0]
    assert support.ours(engine, results) == []


def test_run_killed_at_random_moments_is_completed(place: Path, engine: docker.DockerClient) -> None:
    """Some moments of those that `bench/robustness/killing.py` takes fifty of."""
    generator = random.Random(7)
    results = place / "killed"
    kept: dict[int, dict[str, object]] = {}
    for moment in range(5):
        begun = list(results.glob("*/run.json"))
        process = support.start(place, *(["--resume", "latest"] if begun else []), results=str(results))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(generator.uniform(0.5, 4.0) if moment else 2.5)
        process.kill()
        process.communicate()
        if list(results.glob("*/run.json")):
            found = support.outcomes(results)
            assert {number: found[number] for number in kept} == kept, "what was measured stays as it is"
            kept = {number: one for number, one in found.items() if one["status"] == "ok"}
    begun = list(results.glob("*/run.json"))
    ended = support.run(place, *(["--resume", "latest"] if begun else []), results=str(results))

    assert ended.returncode == 0, ended.stderr
    assert support.statuses(results) == ["ok"] * 3
    assert {number: support.outcomes(results)[number] for number in kept} == kept
    assert support.ours(engine, results) == []


def test_second_orchestrator_on_one_run_is_refused(hanging: Path, place: Path, engine: docker.DockerClient) -> None:
    """A second orchestrator on one run is refused, and a second run in one folder takes its turn."""
    results = hanging / "shared"
    cache = str(hanging / "cache")
    first = support.start(hanging, results=str(results))
    support.until(lambda: hangs(results), first)
    again = support.run(hanging, "--resume", "latest", results=str(results))
    other = support.start(place, results=str(results), XDG_CACHE_HOME=cache)
    assert other.stderr
    waiting = next((line for line in other.stderr if "on this host since" in line), "")
    assert waiting, "who measures, and since when"
    assert len(support.ours(engine, results)) == 1, "only one measures at a time, and nobody removes the other's"
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=LIMIT_S)
    _, said = other.communicate(timeout=LIMIT_S)

    assert again.returncode == 3
    assert "another orchestrator is writing this run; wait for it" in again.stderr
    assert other.returncode == 0, said
    one, two = sorted(results.glob("*/run.json"))
    ends = [
        [outcome.status for outcome in Run(path.parent).outcomes(Run(path.parent).plan().cells)] for path in (one, two)
    ]
    assert ends == [[Status.OK, Status.NOT_RUN], [Status.OK] * 3], "of what had not begun there is no file"


def test_full_disk_ends_the_run_with_an_error(place: Path, engine: docker.DockerClient) -> None:
    """A full disk ends the run with a clear error, and the run goes on once there is room."""
    with small_disk(place / "small", "4m") as results:
        process = support.start(place, results=str(results))
        support.until(lambda: any(results.glob(f"*/{support.CELL}/*/outcome.json")), process)
        with (results / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
        _, said = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 3, said
        assert "No space left on device" in said
        assert "Traceback" not in said
        assert "what is measured is kept; go on with: orchestrator run --resume" in said
        assert support.ours(engine, results) == []

        kept = {number: one for number, one in support.outcomes(results).items() if one["status"] == "ok"}
        assert kept
        (results / "filler").unlink()
        ended = support.run(place, "--resume", "latest", "--retry-failed", results=str(results))
        assert ended.returncode == 0, ended.stderr
        assert support.statuses(results) == ["ok"] * 3
        assert {number: support.outcomes(results)[number] for number in kept} == kept


def test_lost_results_folder_ends_the_run(hanging: Path, engine: docker.DockerClient) -> None:
    """A results folder that goes away ends the run and is not begun anew."""
    results = hanging / "gone"
    process = support.start(hanging, results=str(results))
    support.until(lambda: hangs(results), process)
    (run,) = (path.parent for path in results.glob("*/run.json"))
    elsewhere = hanging / "elsewhere"
    run.rename(elsewhere)
    for container in engine.containers.list(filters={"label": f"bench.run={run.name}"}):
        container.kill()
    _, said = process.communicate(timeout=LIMIT_S)

    assert process.returncode == 3
    assert "this run's folder has gone; bring it back, or begin a new run" in said
    assert "Traceback" not in said
    assert not run.exists()
    elsewhere.rename(run)
    assert support.run(hanging, "--resume", "latest", results=str(results)).returncode == 0
    assert support.statuses(results) == ["ok"] * 3


def test_read_only_results_folder_is_refused_at_once(place: Path) -> None:
    """A results folder that cannot be written is a clear error before anything is launched."""
    with small_disk(place / "read-only", "1m") as results:
        subprocess.run(["mount", "-o", "remount,ro", results], check=True)
        ended = support.run(place, results=str(results))

    assert ended.returncode == 3
    assert "Read-only file system; choose another --results" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_read_only_run_can_still_be_shown(place: Path) -> None:
    with small_disk(place / "archive", "4m") as results:
        shutil.copytree(place / "first", results, dirs_exist_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", results], check=True)
        shown = subprocess.run(
            support.command("report", results=str(results)), cwd=place, env=support.environment(place),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        again = support.run(place, "--resume", "latest", results=str(results))

    assert shown.returncode == 0, shown.stderr
    assert "noop" in shown.stdout
    assert again.returncode == 3
    assert "cannot be locked: Read-only file system" in again.stderr


def test_results_belong_to_the_user_not_to_root(engine: docker.DockerClient, base_image: str, public: Path) -> None:
    """Results belong to the user who runs the command, though the engine runs as root."""
    if os.getuid() != 0:
        missing("only root may become somebody else", "BENCH_REQUIRE_ENGINE")
    run_support.build_image(engine, base_image.format(python="3.11"))
    group = Path("/var/run/docker.sock").stat().st_gid
    run = public / "run"
    run.mkdir()
    os.chown(run, 12345, 23456)
    for name in ("ascii", "latin-1", "idna"):
        codecs.lookup(name)  # the interpreter may lie where the other user cannot load any more of it
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([group])
            os.setgid(23456)
            os.setuid(12345)
            (end,) = run_support.execute_all(engine, run, threading.Event(), run_support.cell("look"))
            os._exit(0 if end.status is Status.OK else 1)
        except BaseException:
            traceback.print_exc()
            os._exit(2)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    files = list(run.rglob("*"))
    assert {path.name for path in files} >= {"result.json", "outcome.json", "log.txt", "own"}
    assert {(path.stat().st_uid, path.stat().st_gid) for path in files} == {(12345, 23456)}
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o600 for path in files)


def test_ctrl_z_past_the_limit_invents_no_timeout(place: Path, engine: docker.DockerClient) -> None:
    """A container that ended in time while the orchestrator was stopped is `ok`, and took as long as it took."""
    results = place / "stopped-meanwhile"
    process = support.start(place, "--no-parity", results=str(results))
    support.until(lambda: any(results.glob(f"*/{support.CELL}/*/phase")), process)
    process.send_signal(signal.SIGSTOP)
    stopped_at_s = time.monotonic()
    until(lambda: time.monotonic() > stopped_at_s + CELL_LIMIT_S)
    process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 0, said
    assert support.statuses(results) == ["ok"] * 3
    assert max(outcome["wall_s"] for outcome in support.outcomes(results).values()) < CELL_LIMIT_S
