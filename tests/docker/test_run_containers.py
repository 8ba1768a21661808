"""One repeat in one container: what it may do, what becomes of it, and what is left of it."""

import threading
from pathlib import Path

import docker
import pytest
import run_support as support

from orchestrator.domain import Outcome, Status, System
from orchestrator.events import Event, PhaseChanged
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module", autouse=True)
def _image(engine: docker.DockerClient, base_image: str) -> None:
    support.build_image(engine, base_image.format(python="3.11"))


@pytest.fixture
def run(engine: docker.DockerClient, tmp_path: Path):  # type: ignore[no-untyped-def]
    def one(behaviour: str, **changes: object) -> Outcome:
        (outcome,) = support.execute_all(
            engine, tmp_path / "run", threading.Event(), support.cell(behaviour, **changes)
        )
        assert Run(tmp_path / "run").outcome(outcome.cell_id, 0) == outcome
        assert not engine.containers.list(all=True, filters={"label": f"bench.cell={outcome.cell_id}"})
        return outcome

    return one


def folder(tmp_path: Path, behaviour: str) -> Path:
    return Run(tmp_path / "run").repeat_folder(f"behave-1-cpu/{behaviour}-train-b10", 0)


def test_answering_container_is_ok_with_known_times(run, engine: docker.DockerClient) -> None:  # type: ignore[no-untyped-def]
    outcome = run("fine")

    assert (outcome.status, outcome.reason, outcome.exit_code) == (Status.OK, "", 0)
    assert outcome.image_id == engine.images.get(support.IMAGE).id
    assert 0 < outcome.create_s < outcome.wall_s
    assert outcome.started_at.endswith("+00:00")


def test_container_sees_only_its_own_folder(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A container sees no network, no rights and nothing of the host but its folder."""
    assert run("look").status is Status.OK

    seen = read_result(folder(tmp_path, "look") / "result.json").facts
    owner = tmp_path.stat()
    assert (seen["uid"], seen["gid"], seen["home"]) == (owner.st_uid, owner.st_gid, "/tmp")
    assert seen["interfaces"] == ["lo"]
    assert seen["connect"] == "OSError"
    assert {seen["capabilities"], seen["bounding"]} == {"0000000000000000"}
    assert seen["no_new_privileges"] == "1"
    assert seen["write_root"] == "OSError"
    assert seen["mounts"]["/"].startswith("ro,")
    assert seen["run_tmp"] == "7"
    assert "size=2097152k" in seen["mounts"]["/tmp"]
    assert "size=1048576k" in seen["mounts"]["/dev/shm"]
    assert seen["write_io"] == "1"
    assert (folder(tmp_path, "look") / "own").stat().st_uid == owner.st_uid


def test_container_has_its_cpus_and_no_gpu(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A container has its cpuset and its threads, and sees no GPU."""
    run("look")

    seen = read_result(folder(tmp_path, "look") / "result.json").facts
    assert len(seen["cpus"]) == 1
    assert seen["environment"]["OMP_NUM_THREADS"] == "1"
    assert seen["cuda"] == ""


def test_a_container_cannot_start_processes_without_end(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("spawn", system=System("cpu", cpus=1, memory_bytes=2 * 2**30))

    assert read_result(folder(tmp_path, "spawn") / "result.json").facts["pids"] == "BlockingIOError"


def test_container_over_its_memory_is_oom_host(run) -> None:  # type: ignore[no-untyped-def]
    """A container over its memory is oom_host, with the limit in the reason."""
    outcome = run("eat", system=System("cpu", cpus=1, memory_bytes=64 * 2**20))

    assert outcome.status is Status.OOM_HOST
    assert outcome.reason == "killed for want of memory of 64 MiB"


def test_container_over_its_time_ends_as_timeout(run) -> None:  # type: ignore[no-untyped-def]
    """A container over its time is removed and ends as timeout."""
    outcome = run("hang", timeout_s=2.0)

    assert (outcome.status, outcome.exit_code) == (Status.TIMEOUT, None)
    assert outcome.reason == "not done within 2 s; its last words: hanging"
    assert outcome.wall_s < 120  # it hangs without end


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        ("crash", Status.FAILED, "killed by SIGSEGV"),
        ("raise", Status.FAILED, "ValueError: the gradient is gone"),
        ("silent", Status.INVALID_RESULT, "no result.json was written"),
        ("pipe", Status.INVALID_RESULT, "result.json is no plain file"),
        ("other", Status.INVALID_RESULT, "not of what was asked"),
        ("exit3", Status.UNSUPPORTED, "so it is"),
        ("exit4", Status.IMPORT_FAILED, "so it is"),
        ("exit5", Status.FAILED, "so it is"),
        ("exit6", Status.OOM_DEVICE, "so it is"),
        ("exit9", Status.FAILED, "so it is"),
    ],
)
def test_an_end_is_told_from_its_exit_status(run, behaviour: str, status: Status, reason: str) -> None:  # type: ignore[no-untyped-def]
    outcome = run(behaviour)

    assert outcome.status is status
    assert reason in outcome.reason


def test_log_keeps_its_end_within_its_bound(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    run("talk")

    log = folder(tmp_path, "talk") / "log.txt"
    assert log.stat().st_size < 17 * 2**20
    assert log.read_text().splitlines()[-2:] == ["the last word", "measured"]


def test_missing_image_is_launch_failed(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """An image that is not there is launch_failed with the words of the engine."""
    monkeypatch.setattr(support.BundledImage, "given", "bench-test-run/none:1")
    outcome = run("fine")

    assert outcome.status is Status.LAUNCH_FAILED
    assert "bench-test-run/none:1" in outcome.reason
    assert outcome.reason in (tmp_path / "run" / outcome.log).read_text()


def test_the_phase_is_told_while_it_lasts(engine: docker.DockerClient, tmp_path: Path) -> None:
    events: list[Event] = []
    hang = support.cell("hang", timeout_s=2.0)
    support.execute_all(engine, tmp_path / "run", threading.Event(), hang, listener=events.append)

    assert [event.phase for event in events if isinstance(event, PhaseChanged)] == ["steady"]


def test_results_folder_of_odd_name_is_mounted(engine: docker.DockerClient, tmp_path: Path) -> None:
    """A results folder with a colon and a comma in its name is mounted."""
    (outcome,) = support.execute_all(engine, tmp_path / "a:b,c" / "run", threading.Event(), support.cell("fine"))

    assert (outcome.status, outcome.reason) == (Status.OK, "")
