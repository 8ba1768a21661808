"""The view and the abilities of a container, proved from inside it."""

import json
import os
import socket
import threading
from typing import Any

import docker
import pytest
import run_support as support

from orchestrator.domain import Status, System
from orchestrator.engine import abilities
from orchestrator.engine.abilities import EngineKind
from orchestrator.results.container_answers import read_result
from orchestrator.results.store import Run

pytestmark = pytest.mark.docker
MEMORY_BYTES = 256 * 2**20
OF_THE_KERNEL = ("/dev", "/proc", "/sys")
OF_THE_ENGINE = {"/", "/io", "/tmp", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}
OF_PODMAN = OF_THE_ENGINE - {"/etc/resolv.conf"} | {"/run", "/var/tmp"}
"""Both are read-only here."""


@pytest.fixture(scope="module")
def seen(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The view of one container, under a client whose configuration names a proxy with a password."""
    support.build_image(engine, base_image.format(python="3.11"))
    folder = tmp_path_factory.mktemp("security")
    (folder / "config.json").write_text(
        json.dumps({"proxies": {"default": {"httpProxy": "http://user:secret@proxy.example:3128"}}})
    )
    run = folder / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_CONFIG", str(folder))
        patch.setenv("A_SECRET_OF_THE_HOST", "secret")
        client = docker.from_env()
        cell = support.cell("look", system=System("cpu", cpus=1, memory_bytes=MEMORY_BYTES))
        (outcome,) = support.execute_all(client, run, threading.Event(), cell)
        client.close()
    assert outcome.status is Status.OK
    return read_result(Run(run).repeat_folder(outcome.cell_id, 0) / "result.json").facts


def test_only_io_is_mounted_from_the_host(seen: dict[str, Any], engine: docker.DockerClient) -> None:
    """Nothing of the host is mounted but io and the files that the engine makes for it."""
    others = {point for point in seen["mount_points"] if not point.startswith(OF_THE_KERNEL)}

    of_the_engine = OF_PODMAN if abilities.read(engine).kind is EngineKind.PODMAN else OF_THE_ENGINE
    assert others == of_the_engine


def test_container_sees_no_process_of_the_host(seen: dict[str, Any]) -> None:
    """A container sees no other process, and no name and no variable of the host."""
    assert seen["processes"] == 1
    assert seen["hostname"] != socket.gethostname()
    assert not {name for name in seen["variables"] if "SECRET" in name or "proxy" in name.lower()}


def test_container_has_no_capability_but_a_filter(seen: dict[str, Any]) -> None:
    """A container has no capability of any kind, and has a filter of system calls."""
    assert seen["capability_sets"] == ["0000000000000000"]
    assert (seen["no_new_privileges"], seen["seccomp"]) == ("1", "2")
    assert seen["mount"] == "-1"
    assert seen["sysctl"] == "OSError"
    assert seen["become_root"] in {"None", "PermissionError"}
    assert (seen["uid"], seen["gid"]) == (os.getuid(), os.getgid())


def test_it_has_its_limits(seen: dict[str, Any]) -> None:
    assert seen["memory_bytes"] == str(MEMORY_BYTES)
    assert seen["pids"] == "4096"
    assert len(seen["cpus"]) == 1


def test_it_has_no_device_but_the_harmless_ones(seen: dict[str, Any]) -> None:
    assert set(seen["devices"]) <= {
        "console", "core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout",
        "tty", "urandom", "zero",
    }  # fmt: skip


def test_container_gets_no_name_server_or_domain(seen: dict[str, Any]) -> None:
    """A container gets no name server and no domain of the host."""
    assert [line for line in seen["names"].splitlines() if line.startswith("nameserver")] == ["nameserver 127.0.0.1"]
    assert not [line for line in seen["names"].splitlines() if line.startswith(("search", "domain"))]
