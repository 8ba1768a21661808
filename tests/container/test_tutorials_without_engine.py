"""The tutorial, followed in a fresh clone on a machine without a container engine."""

import json
from pathlib import Path

import pytest

from tests.tutorials import clone, followed, surroundings

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]
NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock", "ORCHESTRATOR_IDLE_WAIT": "0"}
VERDICTS = {"same", "slower", "faster", "inconclusive"}


def test_tutorial_leads_to_verdict_and_nightly(tmp_path: Path) -> None:
    """The first page ends at a verdict, and the next one, with what it has installed, at a night that is recorded."""
    environment = surroundings(tmp_path, **NO_ENGINE)
    folder = clone(tmp_path / "clone")
    said = followed("tutorial/first-verdict.md", folder, environment)

    assert "Parity: all 2 cells do the same work" in said["orchestrator run -f first.yaml"]
    (record,) = folder.glob("results/*/regression.json")
    regression = json.loads(record.read_text())
    found = {metric["verdict"] for pair in regression["pairs"] for metric in pair["metrics"]}
    assert found <= VERDICTS
    assert "same" in found, "the loss after equal work is known exactly"

    nights = tmp_path / "nights"
    nights.mkdir()
    followed("tutorial/nightly.md", nights, environment)
    assert len(list(nights.glob("nightly/nights/*/night.json"))) == 2
