"""The tutorial, followed in a fresh clone on a machine without a container engine."""

import json
from pathlib import Path

import pytest

from tests.tutorials import SHOWN_TOO, check_verdicts, clone, followed, surroundings, verdict_tables

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]
NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock", "ORCHESTRATOR_IDLE_WAIT": "0"}


def test_tutorial_leads_to_verdict_and_nightly(tmp_path: Path) -> None:
    """The first page ends at a verdict, and the next one, with what it has installed, at a night that is recorded."""
    environment = surroundings(tmp_path, **NO_ENGINE)
    folder = clone(tmp_path / "clone")
    said = followed("tutorial/first-verdict.md", folder, environment)

    assert "Parity: all 2 cells do the same work" in said["orchestrator run -f first.yaml"]
    *_, printed = said.values()
    verdict = check_verdicts(printed)
    _, others = verdict_tables(printed)
    assert {row["Metric"] for row in others} == SHOWN_TOO - {"image size"}
    (record,) = folder.glob("results/*/regression.json")
    (pair,) = json.loads(record.read_text())["pairs"]
    assert [metric["verdict"] for metric in pair["metrics"] if metric["gates"]] == [verdict]

    nights = tmp_path / "nights"
    nights.mkdir()
    followed("tutorial/nightly.md", nights, environment)
    assert len(list(nights.glob("nightly/nights/*/night.json"))) == 2
