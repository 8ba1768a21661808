"""The abilities of engines, from answers that real ones gave: `answers/` names engine, version and user."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.engine import abilities
from orchestrator.engine.abilities import Abilities, EngineKind, limits_problem
from orchestrator.engine.transfer import knows_by_manifest

ANSWERS = Path(__file__).with_name("answers")
ALL_LIMITS = ("CPUs", "memory", "processes")


def recorded(name: str) -> Abilities:
    return abilities.known(**json.loads((ANSWERS / f"{name}.json").read_text()))


class RecordedEngine:
    """An engine that gives recorded answers, and counts the questions."""

    def __init__(self, name: str) -> None:
        self._answers = json.loads((ANSWERS / f"{name}.json").read_text())
        self.asked: list[str] = []
        self.api = SimpleNamespace(base_url="http://engine", get=self._get)

    def info(self) -> dict[str, Any]:
        self.asked.append("info")
        return dict(self._answers["information"])

    def version(self) -> dict[str, Any]:
        self.asked.append("version")
        return dict(self._answers["version"])

    def _get(self, url: str) -> Any:
        self.asked.append(url)
        headers = {"Builder-Version": self._answers["builder"]}
        return SimpleNamespace(ok=True, headers=headers, json=lambda: self._answers["podman"])


def test_docker_of_debian_12_limits_everything() -> None:
    known = recorded("docker-20.10")

    assert (known.kind, known.version, known.api_version) == (EngineKind.DOCKER, "20.10.24+dfsg1", "1.41")
    assert (known.is_rootless, known.cgroup_version, known.storage) == (False, 1, "overlay2")
    assert (known.has_seccomp, known.has_selinux, known.has_containerd_images) == (True, False, False)
    assert (known.has_buildkit, known.gpu_problem, known.unlimited) == (False, None, ())
    assert limits_problem(known) is None


def test_podman_of_root_limits_everything() -> None:
    known = recorded("podman-4.3-rootful")

    assert (known.kind, known.version, known.is_rootless) == (EngineKind.PODMAN, "4.3.1", False)
    assert (known.storage, known.has_seccomp, known.unlimited) == ("overlay", True, ())
    assert known.gpu_problem == "Podman 4.3.1 drops the requests for GPUs that Docker's interface has"


def test_rootless_podman_limits_nothing_on_version_1() -> None:
    """Its compatible answer says that it does; the controllers that it names itself are what counts."""
    answers = json.loads((ANSWERS / "podman-4.3-rootless.json").read_text())
    known = abilities.known(**answers)

    assert answers["information"]["MemoryLimit"] is True
    assert (known.is_rootless, known.cgroup_version, known.unlimited) == (True, 1, ALL_LIMITS)
    assert limits_problem(known) == (
        "Podman 4.3.1 sets no limit on CPUs, memory and processes of its containers, since it is rootless on control "
        "groups version 1; use the engine of root, boot with systemd.unified_cgroup_hierarchy=1, or use --runtime venv"
    )


def test_rootless_engine_needs_delegated_controllers() -> None:
    """As on version 2, where systemd delegates no cpuset to a user unless it is told to."""
    answers = json.loads((ANSWERS / "podman-4.3-rootless.json").read_text())
    answers["podman"]["host"]["cgroupControllers"] = ["cpu", "memory", "pids"]
    answers["information"]["CgroupVersion"] = "2"
    problem = limits_problem(abilities.known(**answers))

    assert problem is not None
    assert "sets no limit on CPUs of" in problem
    assert "have systemd delegate cpuset to its user" in problem


def test_docker_says_what_its_kernel_lacks() -> None:
    answers = json.loads((ANSWERS / "docker-20.10.json").read_text())
    answers["information"]["PidsLimit"] = False
    problem = limits_problem(abilities.known(**answers))

    assert problem is not None
    assert "enable the control groups pids in the kernel" in problem


@pytest.mark.parametrize(
    ("version", "heeds"), [("4.3.1", False), ("5.3.2", False), ("5.4.0", True), ("6.0.0-dev", True)]
)
def test_podman_heeds_names_of_gpus_from_5_4(version: str, heeds: bool) -> None:
    answers = json.loads((ANSWERS / "podman-4.3-rootful.json").read_text())
    answers["version"]["Version"] = version

    assert (abilities.known(**answers).gpu_problem is None) is heeds


def test_current_docker_has_images_of_containerd() -> None:
    """Docker 26.1 with the image store that newer ones have by default, and BuildKit in front."""
    known = recorded("docker-26.1-containerd")

    assert (known.version, known.api_version) == ("26.1.5+dfsg1", "1.45")
    assert (known.storage, known.has_containerd_images, known.has_buildkit) == ("overlayfs", True, True)
    assert (known.has_seccomp, known.unlimited, known.gpu_problem) == (True, (), None)


def test_bundles_are_loaded_by_manifest_there() -> None:
    engines: dict[str, Any] = {name: RecordedEngine(name) for name in ("docker-20.10", "docker-26.1-containerd")}

    assert {name: knows_by_manifest(engine) for name, engine in engines.items()} == {
        "docker-20.10": False,
        "docker-26.1-containerd": True,
    }


def test_current_podman_takes_names_of_gpus() -> None:
    known = recorded("podman-5.4-rootful")

    assert (known.kind, known.version.rpartition(".")[0]) == (EngineKind.PODMAN, "5.4")
    assert (known.gpu_problem, known.unlimited) == (None, ())


def test_selinux_is_known_by_either_answer() -> None:
    """Docker lists it among its options, Podman in an answer of its own."""
    docker = json.loads((ANSWERS / "docker-20.10.json").read_text())
    docker["information"]["SecurityOptions"].append("name=selinux")
    podman = json.loads((ANSWERS / "podman-4.3-rootful.json").read_text())
    podman["podman"]["host"]["security"]["selinuxEnabled"] = True

    assert abilities.known(**docker).has_selinux
    assert abilities.known(**podman).has_selinux


def test_client_is_asked_once() -> None:
    engine: Any = RecordedEngine("podman-4.3-rootless")
    first = abilities.read(engine)
    asked = list(engine.asked)

    assert first == recorded("podman-4.3-rootless")
    assert sorted(asked) == ["http://engine/_ping", "http://engine/v4.0.0/libpod/info", "info", "version"]
    assert abilities.read(engine) is first
    assert engine.asked == asked


def test_abilities_are_told_in_one_line() -> None:
    assert str(recorded("docker-20.10")) == (
        "Docker 20.10.24+dfsg1, API 1.41, rootful, control groups 1, storage overlay2, SELinux off, seccomp on, "
        "BuildKit not the default"
    )
    assert "rootless" in str(replace(recorded("docker-20.10"), is_rootless=True))
