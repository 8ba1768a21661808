"""Processes that load one bundle on a host at the same time."""

import threading
from pathlib import Path
from typing import Any

import pytest

from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.bundles.read.load_lock import FOLDER, one_load_at_a_time
from orchestrator.events import Event, Notice
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.ship import load as workflow
from orchestrator.workflows.ship.load import BundleOptions, LoadResult
from tests.unit.bundles.bundle_fake_engine import Answer, FakeEngine
from tests.unit.bundles.small_bundles import an_engine, exported

SHA256 = "0123456789abcdef" * 4


class _SlowEngine(FakeEngine):
    """An engine that begins to take the first archive, and goes on when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def post(self, *arguments: Any, **more: Any) -> Answer:
        self.begun.set()
        assert self.go_on.wait(60)
        return super().post(*arguments, **more)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> _SlowEngine:
    """The engine of this host, without images."""
    engine = _SlowEngine()
    monkeypatch.setattr(workflow, "connect", lambda environment: engine)
    return engine


def test_a_second_load_waits_and_does_nothing(tmp_path: Path, far: _SlowEngine) -> None:
    """Of two loads at once, one sends every image, and the other waits and finds all there."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    options = BundleOptions(bundle=tmp_path / "bundle")
    results: list[LoadResult] = []
    variables = {"HOME": str(tmp_path)}

    def goes_on(event: Event) -> None:
        if isinstance(event, Notice) and "another process loads this bundle" in event.message:
            far.go_on.set()

    first = threading.Thread(target=lambda: results.append(workflow.load(options, Host(variables))))
    first.start()
    assert far.begun.wait(60)
    second = workflow.load(options, Host(variables, goes_on))
    first.join()

    assert results[0].loaded == ("bench/small:1-cpu", "bench/small:2-cpu")
    assert second.loaded == ()
    assert len(far.received) == 2
    assert second.bundle == results[0].bundle


def test_a_stop_ends_the_wait(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()

    with (
        one_load_at_a_time(tmp_path, "node", SHA256, lambda line: None, threading.Event()),
        pytest.raises(TransferStoppedError),
        one_load_at_a_time(tmp_path, "node", SHA256, lambda line: None, stop),
    ):
        pass


def test_other_hosts_and_bundles_do_not_wait(tmp_path: Path) -> None:
    """A cache may be shared by hosts, each of which has an engine to load into."""
    said: list[str] = []
    with (
        one_load_at_a_time(tmp_path, "node1", SHA256, said.append, threading.Event()),
        one_load_at_a_time(tmp_path, "node2", SHA256, said.append, threading.Event()),
        one_load_at_a_time(tmp_path, "node/1", "f" * 64, said.append, threading.Event()),
    ):
        names = sorted(path.name for path in (tmp_path / FOLDER).iterdir())

    assert names == [f"node1-{SHA256[:16]}.lock", f"node2-{SHA256[:16]}.lock", f"node_1-{'f' * 16}.lock"]
    assert said == []


def test_a_cache_without_locks_is_no_obstacle(tmp_path: Path) -> None:
    """A bundle is loaded also if the cache cannot be locked, and a line says so."""
    (tmp_path / "cache").touch()
    said: list[str] = []

    with one_load_at_a_time(tmp_path / "cache", "node", SHA256, said.append, threading.Event()):
        pass

    assert [line.partition(": ")[2].split(" (")[0] for line in said] == ["cannot be locked"]
