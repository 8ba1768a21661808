"""The way in which containers are confined, by what their engine can do."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.engine.abilities import EngineKind
from orchestrator.engine.confinement import WRITABLE_IN_PODMAN, Limits, shipped_profile
from orchestrator.engine.containers import container
from orchestrator.errors import HostError
from orchestrator.events import Event
from orchestrator.processes import StartError
from orchestrator.runtimes import limits_of
from tests.unit.runtimes.test_containers import FakeApi, client, spec


class AnsweringEngine:
    """An engine in memory that says what it can do."""

    def __init__(self, information: dict[str, Any], component: str = "Engine") -> None:
        self.info = lambda: information
        self.version = lambda: {"Components": [{"Name": component}], "Version": "4.3.1"}
        answer = SimpleNamespace(ok=True, headers={}, json=lambda: {"host": {"cgroupControllers": []}})
        self.api = SimpleNamespace(base_url="http://engine", get=lambda _: answer)


@pytest.mark.parametrize(
    ("options", "filters"),
    [(["name=apparmor", "name=seccomp,profile=default"], True), (["name=rootless"], False), (None, False)],
)
def test_engine_says_that_it_filters_system_calls(options: list[str] | None, filters: bool) -> None:
    engine: Any = AnsweringEngine({"SecurityOptions": options})
    told: list[Event] = []

    assert (limits_of(engine, told.append).seccomp is not None) is filters
    assert bool(told) is not filters


def test_engine_without_limits_is_refused() -> None:
    engine: Any = AnsweringEngine({"Rootless": True, "CgroupVersion": "1"}, "Podman Engine")
    with pytest.raises(HostError, match=r"Podman 4\.3\.1 sets no limit on CPUs, memory and processes"):
        limits_of(engine)


def test_podman_reads_the_profile_as_a_file() -> None:
    (text, path) = (shipped_profile(kind) for kind in (EngineKind.DOCKER, EngineKind.PODMAN))

    assert json.loads(Path(path.option).read_text()) == json.loads(text.option)
    assert path.name == text.name


def test_folders_that_podman_opens_are_closed(tmp_path: Path) -> None:
    """It lays a writable disk over them, of the size of half the memory."""
    api = FakeApi()
    closed = replace(spec(tmp_path), limits=Limits(closed=WRITABLE_IN_PODMAN))
    with container(client(api), closed, tmp_path / "log.txt"):
        pass

    disks = api.made["host_config"]["Tmpfs"]
    assert {place for place, options in disks.items() if options.startswith("ro,")} == set(WRITABLE_IN_PODMAN)


@pytest.mark.parametrize("has_selinux", [True, False])
def test_container_with_folders_has_no_label(has_selinux: bool, tmp_path: Path) -> None:
    """SELinux would keep a labelled one from them; a container without folders of the host keeps its label."""
    api = FakeApi()
    labelled_engine = replace(spec(tmp_path), limits=Limits(has_selinux=has_selinux))
    for each in (labelled_engine, replace(labelled_engine, folder=None)):
        with container(client(api), each, tmp_path / "log.txt"):
            pass
        unlabelled = "label=disable" in api.made["host_config"]["SecurityOpt"]
        assert unlabelled is (has_selinux and each.folder is not None)


def test_podman_gets_no_path_with_a_comma(tmp_path: Path) -> None:
    api, folder = FakeApi(), tmp_path / "a,b"
    folder.mkdir()
    refused = replace(spec(folder), limits=Limits(takes_commas=False))
    with (
        pytest.raises(StartError, match="a,b; give it another name"),
        container(client(api), refused, tmp_path / "log"),
    ):
        pass

    assert api.asked == []
    with container(client(api), spec(folder), tmp_path / "log"):
        pass
