"""Containers of an engine that answers too late, goes away for a while, or for good."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from orchestrator import processes
from orchestrator.build_settings import BuildSettings
from orchestrator.devices import Allocation
from orchestrator.domain import System
from orchestrator.engine import containers
from orchestrator.engine.containers import container
from orchestrator.errors import HostError
from orchestrator.processes import Cause, LostError, Watch
from orchestrator.runtimes import (
    DockerRuntime,
    Ready,
    Task,
)
from tests.unit.runtimes.engine_in_memory import OWNER, FakeApi, client, spec
from tests.unit.runtimes.late_clock import LateClock


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A look that takes an hour."""
    for module in (processes, containers):
        monkeypatch.setattr(module, "time", LateClock(tmp_path / "late"))
    return lambda: (tmp_path / "late").touch() or False


@pytest.mark.parametrize(("ran_s", "cause", "exit_code"), [(250, Cause.EXITED, 7), (750, Cause.TIMED_OUT, None)])
def test_late_look_asks_engine_for_the_end(
    tmp_path: Path, late: Watch, ran_s: float, cause: Cause, exit_code: int | None
) -> None:
    """If nobody looked until the time was over, the engine's own times decide if the container was over it."""
    api, began = FakeApi(), datetime(2026, 1, 1, tzinfo=UTC)
    api.exit_code = 7
    api.state = {
        "Status": "exited",
        "StartedAt": began.isoformat().replace("+00:00", "Z"),
        "FinishedAt": (began + timedelta(seconds=ran_s)).isoformat().replace("+00:00", "Z"),
    }
    with container(client(api), spec(tmp_path), tmp_path / "log.txt") as owned:
        api.hang.clear()
        owned.start()
        end = owned.wait(600, threading.Event(), watch=late)

    assert (end.cause, end.exit_code) == (cause, exit_code)
    assert end.wall_s < 3600


def test_late_look_finds_a_container_that_still_runs(tmp_path: Path, late: Watch) -> None:
    api = FakeApi()
    api.state = {"Status": "running", "StartedAt": "2026-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"}
    with container(client(api), spec(tmp_path), tmp_path / "log.txt") as owned:
        api.hang.clear()
        owned.start()
        end = owned.wait(600, threading.Event(), watch=late)

    assert (end.cause, end.exit_code) == (Cause.TIMED_OUT, None)
    assert end.wall_s >= 600


def gone(times: int, api: FakeApi) -> Any:
    """An engine whose container is lost with it, and that answers again after some knocks."""
    knocks = iter([requests.ConnectionError("connection refused")] * times)
    lost = requests.ConnectionError("connection refused")
    api.failures = {"wait": lost, "remove": lost}

    def ping() -> bool:
        for error in knocks:
            raise error
        api.failures = {}
        return True

    return SimpleNamespace(api=api, ping=ping)


def launch(engine: Any, folder: Path, stop: threading.Event | None = None) -> None:
    runtime = DockerRuntime(engine, BuildSettings(), user="1:1", owner=OWNER)
    task = Task(Ready("i", "handle"), folder, folder / "log.txt", System("cpu"), Allocation((0,)), 120.0)
    runtime.launch(task, stop=stop or threading.Event(), watch=lambda: None)


def test_lost_engine_is_awaited_and_cleaned(tmp_path: Path) -> None:
    """An engine that goes away is waited for and then rid of the container."""
    api = FakeApi()
    with pytest.raises(LostError, match="the engine was lost: connection refused"):
        launch(gone(2, api), tmp_path)

    assert api.asked == ["create", "inspect", "attach", "start", "wait", "remove", "remove", "remove", "remove"]
    assert api.failures == {}


def test_absent_engine_is_awaited_without_removal(tmp_path: Path) -> None:
    """An engine that is not there at all is waited for, with nothing to remove."""
    api = FakeApi()
    engine = gone(1, api)
    api.failures["create"] = requests.ConnectionError("connection refused")
    with pytest.raises(LostError):
        launch(engine, tmp_path)

    assert api.asked == ["create"]


@pytest.mark.parametrize("stopped", [True, False])
def test_engine_gone_for_good_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool) -> None:
    """An engine that does not come back ends the run with an error of this host."""
    stop = threading.Event()
    if stopped:
        stop.set()
    else:
        monkeypatch.setattr("orchestrator.runtimes.docker.ENGINE_PATIENCE_S", 0.0)
    api = FakeApi(create=requests.ConnectionError("connection refused"))
    engine = SimpleNamespace(api=api, ping=lambda: api._ask("create"))
    with pytest.raises(HostError, match="the engine was lost: connection refused; start the engine again"):
        launch(engine, tmp_path, stop)
