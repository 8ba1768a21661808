"""A container of a fixed name, which is in the way of the next one after a crash."""

import threading
from pathlib import Path
from typing import Any

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.devices import Allocation
from orchestrator.domain import System
from orchestrator.runtimes import DockerRuntime, Task
from orchestrator.runtimes.model import Ready
from tests.unit.runtimes.test_containers import OWNER, FakeApi, client


class CrashedApi(FakeApi):
    """An engine that still has the container of a crashed run."""

    def create_container(self, **made: Any) -> dict[str, str]:
        if made.get("name") == "benchmark":
            raise FileExistsError("the name is in use")
        return super().create_container(**made)


def test_two_containers_ask_for_no_name(tmp_path: Path) -> None:
    api = CrashedApi()
    with pytest.raises(FileExistsError):
        api.create_container(image="i", name="benchmark")

    runtime = DockerRuntime(client(api), BuildSettings(), user="1:1", owner=OWNER)
    task = Task(Ready("i", "handle"), tmp_path, tmp_path / "log.txt", System("cpu"), Allocation((0,)), 5.0)
    for _ in range(2):
        assert runtime.launch(task, stop=threading.Event(), watch=lambda: None).exit_code == 0
        assert "name" not in api.made
