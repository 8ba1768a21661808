"""The tutorial, followed in a fresh clone on a machine with a container engine."""

import json
from pathlib import Path

import pytest

from tests.tutorials import check_verdicts, clone, followed, surroundings

pytestmark = [pytest.mark.docker, pytest.mark.slow]


def test_tutorial_leads_to_verdict_in_containers(engine: object, base_image: str, tmp_path: Path) -> None:
    environment = surroundings(tmp_path, ORCHESTRATOR_BASE_IMAGE=base_image)
    folder = clone(tmp_path / "clone")
    said = followed("tutorial/first-verdict.md", folder, environment)

    assert "(docker)" in said["orchestrator run -f first.yaml"]
    assert "Parity: all 2 cells do the same work" in said["orchestrator run -f first.yaml"]
    *_, printed = said.values()
    verdict = check_verdicts(printed)
    (record,) = folder.glob("results/*/regression.json")
    (pair,) = json.loads(record.read_text())["pairs"]
    assert [metric["verdict"] for metric in pair["metrics"] if metric["gates"]] == [verdict]
