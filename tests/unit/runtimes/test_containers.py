"""The life of a container on an engine in memory: always removed, whatever the engine does."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests
from docker.errors import NotFound

from orchestrator.build_settings import BuildSettings
from orchestrator.devices import Allocation, Gpu
from orchestrator.devices.job_bounds import JobBounds
from orchestrator.domain import Status, System
from orchestrator.engine.confinement import Limits, shipped_profile
from orchestrator.engine.containers import DATA, SCRIPT, container, labelled, remove
from orchestrator.files import BoundedLog
from orchestrator.images.making import BuildFailure, Built
from orchestrator.processes import Cause, StartError
from orchestrator.resources import IMAGES
from orchestrator.runtimes import (
    DockerRuntime,
    Ready,
    Task,
    Unavailable,
    memory_kills,
    remove_leftovers,
    this_process,
)
from orchestrator.runtimes.docker import _provided
from tests.unit.runtimes.engine_in_memory import OWNER, FakeApi, client, refusal, spec


def test_container_steps_come_in_order(tmp_path: Path) -> None:
    """A container is made, started, inspected and removed in that order."""
    api = FakeApi()
    api.exit_code, api.oom = 137, True
    with container(client(api), spec(tmp_path), tmp_path / "log.txt") as owned:
        owned.start()
        end = owned.wait(120, threading.Event())

    assert api.asked == ["create", "inspect", "attach", "start", "wait", "inspect", "remove"]
    assert (end.cause, end.exit_code, end.oom_killed, end.image_id) == (Cause.EXITED, 137, True, "sha256:1")
    assert 0 < end.create_s <= end.wall_s
    assert (tmp_path / "log.txt").read_text() == "hello\n"


def test_denials_are_in_the_container_configuration(tmp_path: Path) -> None:
    """Everything that a container is denied is in its configuration."""
    api = FakeApi()
    with container(client(api), spec(tmp_path), tmp_path / "log.txt"):
        pass
    host = api.made["host_config"]

    assert (host["NetworkMode"], host["CapDrop"], host["ReadonlyRootfs"]) == ("none", ["ALL"], True)
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["Init"], api.made["healthcheck"]) == (False, {"test": ["NONE"]})
    assert host["Mounts"] == [{"Target": "/io", "Source": str(tmp_path), "Type": "bind", "ReadOnly": False}]
    assert (host["Memory"], host["MemorySwap"], host["CpusetCpus"], host["PidsLimit"]) == (64, 64, "0,2", 4096)
    assert host["DeviceRequests"][0]["DeviceIDs"] == ["GPU-3"]
    assert host["LogConfig"]["Type"] == "none"
    assert host["Tmpfs"] == {
        "/tmp": "rw,exec,nosuid,nodev,size=2147483648,mode=1777",
        "/dev/shm": "rw,noexec,nosuid,nodev,size=1073741824,mode=1777",
    }
    assert api.made["user"] == "1000:1000"


def test_folders_that_are_shown_are_read_only(tmp_path: Path) -> None:
    """A script's folder and a dataset's are the user's own: nothing that is measured may write to them."""
    api = FakeApi()
    shown = ((tmp_path / "scripts", SCRIPT), (tmp_path / "data", DATA))
    with container(client(api), replace(spec(tmp_path), shown=shown), tmp_path / "log.txt"):
        pass

    mounts = {mount["Target"]: mount["ReadOnly"] for mount in api.made["host_config"]["Mounts"]}
    assert mounts == {"/io": False, "/script": True, "/data": True}


def test_profile_of_system_calls_is_in_the_configuration(tmp_path: Path) -> None:
    api = FakeApi()
    with container(
        client(api), replace(spec(tmp_path), limits=Limits(seccomp=shipped_profile())), tmp_path / "log.txt"
    ):
        pass
    (option,) = [text for text in api.made["host_config"]["SecurityOpt"] if text.startswith("seccomp=")]

    assert json.loads(option.removeprefix("seccomp=")) == json.loads((IMAGES / "seccomp.json").read_text())


def test_declared_volumes_are_mounted_read_only(tmp_path: Path) -> None:
    """The engine would mount a writable volume at each; one at a mount point of ours gives way to it."""
    api, data = FakeApi(), tmp_path / "data"
    api.declared = ["/opt/models/", "/io", "/tmp", "/data", "/dev/shm"]
    wanted = replace(spec(tmp_path), shown=((data, "/data"),), labels=(("bench.owner", "me"),))
    with container(client(api), wanted, tmp_path / "log.txt"):
        pass

    own, shown, volume = api.made["host_config"]["Mounts"]
    name = volume.pop("Source")
    assert volume == {
        "Target": "/opt/models", "Type": "volume", "ReadOnly": True,
        "VolumeOptions": {"Labels": {"bench.owner": "me"}},
    }  # fmt: skip
    assert api.removed_volumes == [name]
    assert (own["ReadOnly"], shown["ReadOnly"]) == (False, True)


@pytest.mark.parametrize(
    "path",
    [
        "data", "/", "/io/cache", "/tmp/x", "/a/../io", "//etc",
        "/dev", "/dev/", "/dev/mqueue", "/dev/shm/x", "/proc", "/proc/sys", "/sys", "/sys/fs/cgroup",
    ],
)  # fmt: skip
def test_volume_that_cannot_be_covered_is_refused(path: str, tmp_path: Path) -> None:
    api = FakeApi()
    api.declared = [path]
    refusal = pytest.raises(StartError, match="from the image")
    with refusal, container(client(api), spec(tmp_path), tmp_path / "log.txt"):
        pass

    assert api.asked == []


@pytest.mark.parametrize(("declared", "place"), [(["/opt/models"], "/opt/models"), (["/dev/shm"], "/dev/shm")])
def test_container_with_another_writable_mount_is_not_started(declared: list[str], place: str, tmp_path: Path) -> None:
    """Every container is looked through, also one whose declared volumes all give way to mounts of ours."""
    api = FakeApi()
    api.declared = declared
    api.mounts = [{"Destination": "/io", "RW": True}, {"Destination": place, "RW": True}]
    with (
        pytest.raises(StartError, match=f"could write to {place};"),
        container(client(api), spec(tmp_path), tmp_path / "log.txt") as owned,
    ):
        owned.start()

    assert api.asked == ["create", "inspect", "remove"]


@pytest.mark.parametrize("where", ["attach", "start", "inspect", "wait"])
def test_a_container_is_removed_wherever_the_engine_fails(where: str, tmp_path: Path) -> None:
    api = FakeApi(**{where: refusal("driver failed\nno room for it")})
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0,)), 120.0)
    with pytest.raises(StartError, match="no room for it"):
        runtime.launch(task, stop=threading.Event(), watch=lambda: None)

    assert api.asked[-1] == "remove"


def test_a_task_is_told_its_container_before_the_start(tmp_path: Path) -> None:
    """By its id the processes of a launch are told from those of others."""
    api = FakeApi()
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    told: list[tuple[str, list[str]]] = []
    task = Task(
        Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0,)), 120.0,
        started=lambda identity: told.append((identity, list(api.asked))),
    )  # fmt: skip
    runtime.launch(task, stop=threading.Event(), watch=lambda: False)

    ((identity, before),) = told
    assert identity
    assert "start" not in before


def test_failed_creation_leaves_nothing_to_remove(tmp_path: Path) -> None:
    """An engine that refuses to make a container leaves nothing to remove."""
    api = FakeApi(create=requests.exceptions.ConnectionError("gone"))
    with pytest.raises(StartError, match="gone"), container(client(api), spec(tmp_path), tmp_path / "log.txt"):
        pass

    assert api.asked == ["create"]


@pytest.mark.parametrize("cause", [Cause.TIMED_OUT, Cause.STOPPED])
def test_endless_container_is_removed(cause: Cause, tmp_path: Path) -> None:
    """A container that does not end is removed, with no exit code."""
    api = FakeApi()
    api.hang.clear()
    stop = threading.Event()
    if cause is Cause.STOPPED:
        stop.set()
    with container(client(api), spec(tmp_path), tmp_path / "log.txt") as owned:
        owned.start()
        end = owned.wait(0.1 if cause is Cause.TIMED_OUT else 30, stop)

    assert (end.cause, end.exit_code) == (cause, None)
    assert "remove" in api.asked


def test_removal_is_tried_three_times() -> None:
    """Removing what has gone is fine, and what will not go is reported after three tries."""
    remove(client(FakeApi(remove=NotFound("gone"))), "c0ffee")
    remove(client(FakeApi(remove=refusal("removal of container is already in progress"))), "c0ffee")
    stubborn = FakeApi(remove=refusal("device or resource busy"))

    with pytest.raises(StartError, match="container c0ffee cannot be removed: device or resource busy"):
        remove(client(stubborn), "c0ffee")
    assert stubborn.asked == ["remove"] * 3


def present(state: str, owner: str) -> dict[str, Any]:
    return {"Id": "c0ffee", "State": state, "Labels": {"bench.owner": owner}}


def test_only_containers_without_a_live_owner_are_removed() -> None:
    own = this_process()
    dead = replace(own, started="0")
    elsewhere = replace(own, boot="other")
    api = FakeApi()
    api.present = [
        present("running", str(own)),
        present("running", str(dead)),
        present("created", str(elsewhere)),
        present("exited", str(elsewhere)),
        present("running", "garbage"),
    ]

    assert [found.running for found in labelled(client(api), "bench.owner")] == [True, True, True, False, True]
    api.present_volumes = [
        {"Name": name, "Labels": {"bench.owner": owner}} for name, owner in (("own", str(own)), ("dead", str(dead)))
    ]

    assert remove_leftovers(client(api), own) == 3
    assert api.removed_volumes == ["dead"]


def test_stubborn_leftover_waits_for_next_run() -> None:
    """A leftover that will not go is left for the next run."""
    api = FakeApi(remove=refusal("busy"))
    api.present = [present("exited", "garbage")]

    assert remove_leftovers(client(api), OWNER) == 0


def test_task_becomes_a_configured_container(tmp_path: Path) -> None:
    """A task becomes a container with its GPUs, CPUs and labels."""
    api = FakeApi()
    api.exit_code = 139
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    given = Allocation((0, 1), (Gpu(0, "GPU-0", "Test GPU", 1),))
    system = System("1_gpu", cpus=2, gpus=1, memory_bytes=64)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", system, given, 5.0, (("bench.run", "r"),))
    ended = runtime.launch(task, stop=threading.Event(), watch=lambda: None)

    assert (ended.exit_code, ended.signal, ended.image_id) == (139, 11, "sha256:1")
    assert api.made["image"] == "handle"
    assert api.made["labels"] == {"bench.kind": "container", "bench.run": "r", "bench.owner": "boot/pid:[1]/1/1"}
    assert api.made["environment"]["OMP_NUM_THREADS"] == "2"
    assert api.made["environment"]["CUDA_VISIBLE_DEVICES"] == "GPU-0"
    assert api.made["host_config"]["DeviceRequests"][0]["DeviceIDs"] == ["GPU-0"]


@pytest.mark.parametrize(
    ("exit_code", "kills", "found"), [(137, 1, True), (137, 0, False), (139, 1, False), (1, 1, False), (0, 1, False)]
)
def test_a_kill_for_memory_is_seen_where_the_engine_misses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_code: int, kills: int, found: bool
) -> None:
    """An engine that learns of a kill after the end tells nothing: the kernel has counted it."""
    counts = iter((7, 7 + kills))
    monkeypatch.setattr(memory_kills, "counted", lambda: next(counts))
    api = FakeApi()
    api.exit_code = exit_code
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0,)), 120.0)

    assert runtime.launch(task, stop=threading.Event(), watch=lambda: None).oom_killed is found


def test_system_without_cpus_is_not_confined(tmp_path: Path) -> None:
    """A system that names no CPUs is not confined to any."""
    api = FakeApi()
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0, 1)), 5.0)
    runtime.launch(task, stop=threading.Event(), watch=lambda: None)

    assert not {"CpusetCpus", "Memory", "DeviceRequests"} & set(api.made["host_config"])
    assert api.made["environment"]["CUDA_VISIBLE_DEVICES"] == ""


def test_cell_beside_others_is_confined_to_its_share(tmp_path: Path) -> None:
    """A system that names no CPUs has those near its GPU while cells on others run beside it."""
    api = FakeApi()
    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    share = Allocation((4, 5), (Gpu(0, "GPU-0", "Test GPU", 1),), memory_bytes=2**30)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("1_gpu", gpus=1), share, 5.0)
    runtime.launch(task, stop=threading.Event(), watch=lambda: None)

    assert (api.made["host_config"]["CpusetCpus"], api.made["host_config"]["Memory"]) == ("4,5", 2**30)


@pytest.mark.parametrize(("driver", "parent"), [("cgroupfs", "/slurm/job_12"), ("systemd", None)])
def test_a_job_confines_its_containers(tmp_path: Path, driver: str, parent: str | None) -> None:
    """An engine starts containers outside the job, so its CPUs, memory and control group are handed on.

    An engine that leaves control groups to systemd cannot take that of the job.
    """
    api = FakeApi()
    engine = SimpleNamespace(api=api, info=lambda: {"CgroupDriver": driver})
    bounds = JobBounds(memory_bytes=2**30, cgroup="/slurm/job_12")
    runtime = DockerRuntime(cast("Any", engine), BuildSettings(), user="1:1", owner=OWNER, bounds=bounds)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0, 1)), 5.0)
    runtime.launch(task, stop=threading.Event(), watch=lambda: None)

    options = api.made["host_config"]
    assert (options["CpusetCpus"], options["Memory"], options.get("CgroupParent")) == ("0,1", 2**30, parent)


def test_build_results_become_what_runs_need(tmp_path: Path) -> None:
    """The answers of the part that makes images become what the run needs."""
    log = tmp_path / "log"

    assert _provided(Built("i", "sha256:1", "i:1-abc", "python@sha256:b", versions=(("a", "1"),))) == Ready(
        "i", "i:1-abc", (("a", "1"),), "sha256:1", "python@sha256:b"
    )
    assert _provided(Built("i", "sha256:1", "i:1-abc")) == Ready("i", "i:1-abc", (), "sha256:1", None)
    assert _provided(BuildFailure("i", "no room", log)) == Unavailable("i", Status.BUILD_FAILED, "no room", log)
    assert _provided(BuildFailure("i", "stopped")) == Unavailable("i", Status.NOT_RUN, "stopped")


def test_client_proxies_stay_out_of_container(tmp_path: Path) -> None:
    """Proxies of the client's own configuration stay out of the container."""
    api = FakeApi()
    with container(client(api), spec(tmp_path), tmp_path / "log.txt"):
        pass

    assert api.made["use_config_proxy"] is False


def test_container_counts_output_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container says how much of its output its log left out."""
    for name, size_bytes in (("limit_bytes", 4), ("tail_bytes", 2)):
        monkeypatch.setitem(BoundedLog.__init__.__kwdefaults__, name, size_bytes)
    with container(client(FakeApi()), spec(tmp_path), tmp_path / "log.txt") as owned:
        owned.start()
        owned.wait(120, threading.Event())

    assert owned.log_omitted_bytes == 2
    assert (tmp_path / "log.txt").read_text() == "he\n[… 2 bytes left out …]\no\n"
