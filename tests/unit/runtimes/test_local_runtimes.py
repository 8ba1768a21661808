"""The `venv` and `host` runtimes on the interpreter at hand, with the framework that costs nothing."""

import json
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from orchestrator import processes
from orchestrator.build_settings import BuildSettings
from orchestrator.devices import Allocation, Cpu, Gpu, Inventory
from orchestrator.domain import (
    Cell,
    Duration,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Outcome,
    Plan,
    Status,
    System,
    Workload,
)
from orchestrator.events import BuildFinished, BuildStarted, Event, ignore
from orchestrator.processes import Cause, Finished
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run
from orchestrator.running import Surroundings, execute
from orchestrator.runtimes import (
    Ended,
    HostRuntime,
    Ready,
    Task,
    Unavailable,
    VenvRuntime,
    local,
    memory_kills,
    variables,
)
from orchestrator.runtimes.host import fit

PYTHON = "{}.{}".format(*sys.version_info[:2])
NUMPY = (("numpy", version("numpy")),)
NOOP = ImageSpec(
    "bench/noop", "1-cpu", "cpu", Framework("noop", "1", python=PYTHON),
    Environment("noop", PYTHON, expected_versions=NUMPY),
)  # fmt: skip
OWN_IMAGE = ImageSpec("bench/own", "1-cpu", "cpu", Framework("own", "1", image="corp/own:1"), Environment("noop", ""))
HELD = local.InstalledPackages(f"{PYTHON}.1", (("numpy", "2.0.0"),))


def cell(**changes: object) -> Cell:
    fields: dict[str, object] = {
        "id": "noop-1-cpu/mlp-train-b32", "framework": NOOP.framework, "system": System("cpu", cpus=1),
        "workload": Workload("mlp", Mode.TRAIN, 32), "image": NOOP.name, "duration": Duration(steps=10),
        "timeout_s": 60.0,
    }  # fmt: skip
    return Cell(**{**fields, **changes})  # type: ignore[arg-type]


def run_on_host(folder: Path, *cells: Cell, images: Sequence[ImageSpec] = (NOOP,)) -> list[Outcome]:
    folder.mkdir()
    around = Surroundings(
        Run(folder),
        HostRuntime({}),
        Inventory((Cpu(0, 0),), 2**30),
        lambda: datetime.now(UTC),
        ignore,
        threading.Event(),
    )
    return list(execute(Plan("test", 1, tuple(images), cells), around))


def test_present_interpreter_measures_a_pinned_cell(tmp_path: Path) -> None:
    """A cell is measured by the interpreter at hand, pinned and with its threads."""
    (outcome,) = run_on_host(tmp_path / "run", cell(options=(("env.MALLOC_ARENA_MAX", 1),)))

    assert (outcome.status, outcome.reason) == (Status.OK, "")
    folder = tmp_path / "run/noop-1-cpu/mlp-train-b32/0"
    assert json.loads((folder / "request.json").read_text())["cpuset"] == [0]
    assert read_result(folder / "result.json").facts["threads_asked"] == 1
    assert read_result(folder / "result.json").facts["variables"] == {"MALLOC_ARENA_MAX": "1"}
    assert "measured noop-1-cpu/mlp-train-b32" in (folder / "log.txt").read_text()


def test_missing_model_fails_with_last_log_line(tmp_path: Path) -> None:
    """A model that does not exist fails with the last line of the log."""
    (outcome,) = run_on_host(tmp_path / "run", cell(workload=Workload("nothing", Mode.TRAIN, 32)))

    assert (outcome.status, outcome.exit_code) == (Status.FAILED, 5)
    assert "nothing" in outcome.reason


def test_an_interpreter_of_another_version_cannot_stand_in() -> None:
    other = ImageSpec("bench/noop", "1", "cpu", Framework("noop", "1"), Environment("noop", "3.6"))

    assert fit(other, HELD, Path("/py")) == Unavailable(
        other.name, Status.UNSUPPORTED, f"needs Python 3.6; /py is {PYTHON}.1: use --runtime venv or docker"
    )


def test_wrong_framework_version_cannot_stand_in() -> None:
    """An interpreter without that version of the framework cannot stand in."""
    wanted = ImageSpec(
        "bench/x", "1", "cpu", Framework("x", "1"), Environment("x", PYTHON, expected_versions=(("numpy", "1.0"),))
    )

    assert fit(wanted, HELD, Path("/py")) == Unavailable(
        wanted.name, Status.UNSUPPORTED, "numpy 1.0 was asked for, 2.0.0 is there in /py"
    )


def test_the_users_own_image_needs_the_docker_runtime(tmp_path: Path) -> None:
    said = "corp/own:1 is the user's own image: only --runtime docker can run it"
    venv = VenvRuntime(tmp_path, BuildSettings(), {})
    provided = venv.provide([OWN_IMAGE], jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event())

    assert fit(OWN_IMAGE, HELD, Path("/py")) == Unavailable(OWN_IMAGE.name, Status.UNSUPPORTED, said)
    assert provided == {OWN_IMAGE.name: Unavailable(OWN_IMAGE.name, Status.UNSUPPORTED, said)}


def test_mute_interpreter_means_import_failed(tmp_path: Path) -> None:
    """An interpreter that does not answer makes its cells import_failed."""
    runtime = HostRuntime({}, python=Path("/bin/false"))
    provided = runtime.provide([NOOP], jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event())

    assert provided == {NOOP.name: Unavailable(NOOP.name, Status.IMPORT_FAILED, "/bin/false exited 1 and said nothing")}


def test_interpreter_that_ends_with_its_job_was_stopped(tmp_path: Path) -> None:
    """A scheduler that ends a job signals the interpreter too, which is no failure of an environment."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -TERM $$\n")
    python.chmod(0o755)
    stop = threading.Event()
    stop.set()

    provided = HostRuntime({}, python).provide([NOOP], jobs=1, logs=tmp_path, listener=ignore, stop=stop)
    assert provided == {NOOP.name: Unavailable(NOOP.name, Status.NOT_RUN, "stopped")}


@pytest.mark.parametrize(
    "answer", ["no json", "[1]", "{}", '{"python": "3.11.7"}', '{"python": "3", "versions": [1]}']
)  # fmt: skip
def test_interpreter_without_version_list_is_refused(answer: str, tmp_path: Path) -> None:
    """An interpreter that gives no list of versions is reported as such."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{answer}'\n")
    python.chmod(0o755)

    with pytest.raises(local.AskingError, match="gave no list of versions: "):
        local.ask(python, {})


def test_environments_are_made_and_launched_in(tmp_path: Path) -> None:
    """Environments are made and launched in, and every step is reported."""
    held = Environment("noop", PYTHON, variables=(("A", "b"),), library_folders=("nvidia/cudnn/lib",))
    bare = ImageSpec("bench/noop", "1-cpu", "cpu", NOOP.framework, held)
    none = ImageSpec("bench/noop", "0-cpu", "cpu", NOOP.framework, Environment("noop", "2.1"))
    events: list[Event] = []
    runtime = VenvRuntime(tmp_path / "cache", BuildSettings(), {"PATH": "/usr/bin:/bin"})
    logs = tmp_path / "run/builds"
    provided = runtime.provide([bare, none], jobs=2, logs=logs, listener=events.append, stop=threading.Event())

    ready, missing = provided[bare.name], provided[none.name]
    assert isinstance(ready, Ready)
    assert Path(ready.handle).exists()
    libraries = Path(ready.handle).parents[1] / "lib" / f"python{PYTHON}" / "site-packages/nvidia/cudnn/lib"
    assert dict(ready.variables) == {"A": "b", "LD_LIBRARY_PATH": str(libraries)}
    assert libraries.parents[2].is_dir(), "packages are installed there"
    assert isinstance(missing, Unavailable)
    assert missing.status is Status.UNSUPPORTED
    assert missing.reason.startswith("no Python 2.1 on this host")
    assert [type(event) for event in events] == [BuildStarted, BuildFinished]

    folder = tmp_path / "io"
    folder.mkdir()
    task = Task(ready, folder, folder / "log.txt", System("cpu"), Allocation((0,)), 30.0)
    ended = runtime.launch(task, stop=threading.Event(), watch=lambda: None)
    assert (ended.cause, ended.exit_code) == (Cause.EXITED, 5), "there is no request to answer"


def test_a_stopped_making_ends_as_not_run(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    runtime = VenvRuntime(tmp_path, BuildSettings(), {})
    provided = runtime.provide([NOOP], jobs=1, logs=tmp_path / "builds", listener=ignore, stop=stop)

    assert provided == {NOOP.name: Unavailable(NOOP.name, Status.NOT_RUN, "stopped")}


def test_a_making_that_is_stopped_midway_says_so(tmp_path: Path) -> None:
    stop = threading.Event()
    events: list[Event] = []

    def listen(event: Event) -> None:
        events.append(event)
        stop.set()

    runtime = VenvRuntime(tmp_path / "cache", BuildSettings(no_index=True), {"PATH": "/usr/bin:/bin"})
    spec = ImageSpec("bench/none", "1-cpu", "cpu", NOOP.framework, Environment("noop", PYTHON))
    runtime.provide([spec], jobs=1, logs=tmp_path, listener=listen, stop=stop)

    finished = events[-1]
    assert isinstance(finished, BuildFinished)
    assert (finished.reason, finished.stopped) == ("stopped", True)


def test_failed_making_is_build_failed(tmp_path: Path) -> None:
    """A failed making is build_failed, with its log."""
    wanted = Environment("noop", PYTHON, ("no-such-distribution==1",))
    spec = ImageSpec("bench/none", "1-cpu", "cpu", NOOP.framework, wanted)
    events: list[Event] = []
    runtime = VenvRuntime(tmp_path / "cache", BuildSettings(no_index=True), {"PATH": "/usr/bin:/bin"})
    provided = runtime.provide([spec], jobs=1, logs=tmp_path, listener=events.append, stop=threading.Event())

    failed = provided[spec.name]
    assert isinstance(failed, Unavailable)
    assert (failed.status, failed.log) == (Status.BUILD_FAILED, tmp_path / "bench-none-1-cpu.log")
    assert isinstance(events[-1], BuildFinished)
    assert events[-1].reason == failed.reason != ""
    assert not events[-1].stopped


def launch(folder: Path, script: str, system: System, given: Allocation, host: dict[str, str]) -> Ended:
    python = folder / "bin/python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    task = Task(Ready("i", str(python), variables=(("OWN", "1"),)), folder, folder / "log.txt", system, given, 30.0)
    kept = local.library_variables(host)
    return local.launch(python, task, stop=threading.Event(), watch=lambda: None, variables=kept)


def test_a_process_gets_an_environment_built_from_nothing(tmp_path: Path) -> None:
    gpu = Gpu(3, "GPU-3", "Test GPU", 1)
    host = {"SECRET": "x", "LD_LIBRARY_PATH": "/cuda", "OMP_NUM_THREADS": "64", "PATH": "/evil"}
    launch(tmp_path, "env; ls -A $HOME", System("1_gpu", cpus=2, gpus=1), Allocation((0, 1), (gpu,)), host)

    found = dict(line.split("=", 1) for line in (tmp_path / "log.txt").read_text().splitlines())
    assert {found[name] for name in variables.THREADS} == {"2"}
    assert (found["CUDA_VISIBLE_DEVICES"], found["LD_LIBRARY_PATH"], found["OWN"]) == ("GPU-3", "/cuda", "1")
    assert found["PATH"].startswith(f"{tmp_path}/bin:")
    assert not {"SECRET"} & set(found)
    assert "/evil" not in found["PATH"]
    assert not Path(found["HOME"]).exists(), "its home goes away with it"


def test_cpu_system_sees_no_gpu() -> None:
    """A CPU system sees no GPU, neither in a process nor in a container."""
    process = variables.in_process(Allocation((0, 1)), path="/bin", home="/h")
    container = variables.in_container(System("cpu", cpus=2), Allocation((0, 1)))

    assert process["CUDA_VISIBLE_DEVICES"] == container["CUDA_VISIBLE_DEVICES"] == ""
    assert container["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert process["OMP_NUM_THREADS"] == container["OMP_NUM_THREADS"] == "2"


def test_gpu_container_is_told_its_gpus() -> None:
    """GPUs come by the device request. Their names let the harness see that they came."""
    given = Allocation((0, 1, 2), (Gpu(2, "GPU-2", "Test GPU", None),))
    found = variables.in_container(System("1_gpu", gpus=1), given)

    assert found == dict.fromkeys(variables.THREADS, "3") | {"CUDA_VISIBLE_DEVICES": "GPU-2"}


def test_only_counted_kills_are_for_memory(tmp_path: Path) -> None:
    """A kill is for want of memory only where the kernel counted one."""
    ended = launch(tmp_path, "kill -9 $$", System("cpu"), Allocation((0,)), {})

    assert (ended.signal, ended.oom_killed) == (9, False)


def test_the_kernels_count_of_kills_is_read(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("nr_free 3\noom_kill 7\n")

    assert memory_kills.counted(tmp_path / "vmstat") == 7
    assert memory_kills.counted(tmp_path / "missing") == 0


@pytest.mark.parametrize(
    ("written_s", "cause", "wall_s"),
    [(3.0, Cause.EXITED, 3.0), (700.0, Cause.TIMED_OUT, 700.0), (None, Cause.EXITED, 1.5)],
)
def test_end_that_nobody_saw_is_told_by_files(
    tmp_path: Path, written_s: float | None, cause: Cause, wall_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ended while the orchestrator was stopped ended soon after it wrote its last file."""
    monkeypatch.setattr(processes, "TICK_S", 0.5)
    (tmp_path / "log.txt").write_text("written by the orchestrator when it went on\n")
    if written_s is not None:
        (tmp_path / "result.json").touch()
        os.utime(tmp_path / "result.json", (10_000 + written_s,) * 2)
    task = Task(Ready("i", "python"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0,)), 600.0)
    finished = Finished(Cause.EXITED, 0, wall_s=3602.0, away_s=3600.0)
    corrected = local._corrected(finished, task, 10_000.0, processes.sleeping_s())

    assert corrected.cause is cause
    assert corrected.wall_s == pytest.approx(wall_s, abs=0.01)
    assert local._corrected(replace(finished, away_s=0.1), task, 10_000.0, 0.0).wall_s == 3602.0
