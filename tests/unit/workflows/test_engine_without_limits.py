"""An engine that would ignore limits: virtual environments instead, or a refusal where containers are asked for."""

from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import HostError
from orchestrator.events import Event, Notice
from orchestrator.runtimes import VenvRuntime
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import runtime
from orchestrator.workflows.measure.runtime import Needed, choose
from orchestrator.workflows.option_values import RuntimeName
from tests.unit.engine.test_confined_by_abilities import AnsweringEngine

NOTHING = Needed((), selects=True)


class RootlessEngine(AnsweringEngine):
    """A rootless Podman on control groups version 1, in memory."""

    def __init__(self) -> None:
        super().__init__({"Rootless": True, "CgroupVersion": "1"}, "Podman Engine")
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def rootless(monkeypatch: pytest.MonkeyPatch) -> RootlessEngine:
    engine = RootlessEngine()
    monkeypatch.setattr(runtime, "connect", lambda _: engine)
    return engine


def test_auto_takes_virtual_environments(rootless: RootlessEngine, tmp_path: Path) -> None:
    told: list[Event] = []
    host = Host({"XDG_CACHE_HOME": str(tmp_path)}, listener=told.append)
    chosen = choose(RuntimeName.AUTO, NOTHING, BuildSettings(), host)

    assert isinstance(chosen.runtime, VenvRuntime)
    assert rootless.closed == 1
    (notice,) = [event.message for event in told if isinstance(event, Notice)]
    assert notice.startswith("runtime venv: Podman 4.3.1 sets no limit on CPUs, memory and processes")


def test_docker_is_refused_with_the_remedy(rootless: RootlessEngine, tmp_path: Path) -> None:
    with pytest.raises(HostError, match="or use --runtime venv") as refusal:
        choose(RuntimeName.DOCKER, NOTHING, BuildSettings(), Host({"XDG_CACHE_HOME": str(tmp_path)}))

    assert refusal.value.exit_code == 3
    assert rootless.closed == 1
