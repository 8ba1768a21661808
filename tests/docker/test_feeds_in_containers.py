"""One short run in containers with every feed of PyTorch, from the matrix to the report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.slow]

MATRIX = """
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks: [torch==2.13.0]
models:
  - {name: lenet, dataset: digits, batch_size: 32, epochs: 2, feed: [placed, fed, loader], workers: [0, 1]}
repeats: 1
parity: false
"""


@pytest.mark.usefixtures("engine")
def test_every_feed_ends_with_the_same_accuracy(tmp_path: Path, base_image: str) -> None:
    (tmp_path / "m.yaml").write_text(MATRIX)
    command = [sys.executable, "-m", "orchestrator", "run", "-f", "m.yaml", "--json", "--runtime", "docker"]
    command += ["--base-image", base_image, "--idle-wait", "0", "--extra-repeats", "0"]

    ended = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)["data"]
    cells = {cell["cell"]["workload"].get("feed", "placed"): cell for cell in report["cells"]}
    assert set(cells) == {"placed", "fed", "loader"}
    accuracies = {name: cell["measurement"]["epochs"]["test_accuracies"] for name, cell in cells.items()}
    assert len({tuple(values) for values in accuracies.values()}) == 1, accuracies
    waiting = {cell["cell"]["id"].partition("feed=")[2]: cell["measurement"].get("waiting") for cell in report["cells"]}
    assert waiting.pop("") is None
    assert all(0 < share < 1 for share in waiting.values()), waiting
    shown = subprocess.run([*command[:3], "report"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert shown.count("Waiting for data, share of a block: torch 2.13.0") == 3
