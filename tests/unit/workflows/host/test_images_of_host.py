"""The removal of images spares those that nobody here can make again, and those that are needed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.bundles.read.registry import register
from orchestrator.images import surplus
from orchestrator.runtimes import BundledImage
from orchestrator.workflows.host import images
from orchestrator.workflows.host.host import Host
from tests.unit.bundles.read.carried_bundle import a_record, opened
from tests.unit.cli.host.test_clean import Engine

DROPPED = "bench/a:1-c1"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(surplus, "engine", engine)
    monkeypatch.setattr(images, "connect", lambda _: SimpleNamespace(close=lambda: None))
    return engine


@pytest.mark.parametrize("spared", ["nothing", "own image", "bundle"])
def test_dropped_images_go_unless_they_are_irreplaceable(engine: Engine, spared: str, tmp_path: Path) -> None:
    own = {"ORCHESTRATOR_OWN_IMAGE": DROPPED} if spared == "own image" else {}
    host = Host({"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data"), **own})
    if spared == "bundle":
        register(host.bundles, a_record(images=(BundledImage("bench/a:1", DROPPED, "c1"),)), opened())

    removed = images.remove_images((DROPPED,), host)

    assert removed == ((DROPPED,) if spared == "nothing" else ())
    assert engine.removed == list(removed)


def test_what_the_run_itself_needs_stays(engine: Engine, tmp_path: Path) -> None:
    host = Host({"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")})

    assert images.remove_images((DROPPED,), host, tmp_path, {DROPPED}) == ()
    assert engine.removed == []
