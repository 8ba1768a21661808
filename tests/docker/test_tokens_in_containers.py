"""Generation and requests in containers: of real frameworks, and across the air gap."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import docker
import pytest
from far_support import FarSide
from whole_command import ONCE, orchestrator

from orchestrator.analysis.frontier.points import first_sizes
from orchestrator.modes.parts.frontier import SIZES
from orchestrator.results.container_answers import read_result
from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]
REAL = "torch==2.13.0, onnxruntime==1.32.0"
MATRIX = """\
version: 1
name: tokens
systems: {cpu: {cpus: 1, memory: 2g}}
frameworks: [FRAMEWORKS]
models:
  - name: decoder
    batch_size: 1
    prompt_length: 8
    output_length: 4
    scenario: [single_stream, server]
    rate: 5
    requests: 10
    latency_limit: 30s
    first_token_limit: 30s
modes: [generate, requests]
repeats: 1
warmup_steps: 1
steps: 4
"""
FRONTIER = """\
version: 1
name: tokens
systems: {cpu: {cpus: 1, memory: 1g}}
frameworks: [noop==1]
models:
  - {name: decoder, batch_size: frontier, prompt_length: 8, output_length: 4, requests: 10, latency_limit: 1s}
modes: [infer, generate, requests]
repeats: 2
warmup_steps: 1
steps: 4
"""


def results(run: Path) -> dict[str, Any]:
    """The result of the first repeat of every cell, by its id."""
    ids = [cell["id"] for cell in json.loads((run / "run.json").read_text())["plan"]["cells"]]
    return {each: read_result(run / each / "0" / "result.json") for each in ids if (run / each / "0").is_dir()}


def test_frameworks_answer_in_containers(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """Two frameworks generate the same tokens, and every request has the time of each of its tokens."""
    assert engine.ping()
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("FRAMEWORKS", REAL))

    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr[-3000:]
    report = data_of(ended.stdout)
    assert [cell["statuses"] for cell in report["cells"]] == [[["ok", 1]]] * 6
    assert {pair["work"] for group in report["groups"] for _, pair in group["parity"] if pair} == {"same work"}
    (run,) = (path.parent for path in (tmp_path / "results").glob("*/run.json"))
    for cell, result in results(run).items():
        assert result.generation is not None, cell
        assert len(result.generation.between_tokens_s) == 3 * len(result.generation.first_token_s), cell
        assert (result.requests is not None) is ("decoder-requests" in cell)


def test_frontier_of_tokens_crosses_the_gap(
    engine: docker.DockerClient, far: FarSide, base_image: str, tmp_path: Path
) -> None:
    """A bundle carries the frontier, the lengths and the load. The far side measures the sizes that it needs."""
    assert engine.ping()
    near = tmp_path / "near"
    near.mkdir()
    (near / "matrix.yaml").write_text(FRONTIER)
    made = orchestrator(near, base_image, "export", "--offline", "--no-orchestrator", "-o", "bundle")
    assert made.returncode == 0, made.stderr[-3000:]

    def on_the_far_side(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "orchestrator", *arguments)
        return far.run(*command, folder=tmp_path, environment=far.environment(ORCHESTRATOR_IDLE_WAIT="0"))

    loaded = on_the_far_side("load", str(near / "bundle"))
    assert loaded.returncode == 0, loaded.stderr
    ended = on_the_far_side("run", "--plan", "tokens", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr[-3000:]
    works = [cell["cell"]["workload"] for cell in data_of(ended.stdout)["cells"] if cell["measurement"]]
    for mode in ("infer", "generate"):
        sizes = {work["batch_size"] for work in works if work["mode"] == mode}
        assert set(first_sizes(SIZES)) <= sizes < set(SIZES), mode
    (requests,) = (work for work in works if work["mode"] == "requests")  # a lone client fills the first size alone
    assert requests["load"]["latency_limit_s"] == 1.0
    assert requests["generation"] == {"prompt": 8, "output": 4}
