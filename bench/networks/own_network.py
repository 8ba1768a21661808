"""The time from an ONNX file of one's own to a verdict between two releases, by one command.

    python -m bench.networks.own_network [--model resnet50_v1_5] [--cpus 2] [--runtime docker]

The file is that of a model of the vocabulary, which the program is given as a user's own. The environments of both
releases are made before, by a run of one repeat that is in no figure. The tolerance is 5 %. At the 2 % of the command
two CPUs scatter too much for a verdict here by all 24 blocks, and one CPU takes longer than the ten minutes wanted.
"""

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.native import onnx
from benchmarks.own_models import record
from benchmarks.vocabulary import weights
from orchestrator.analysis.comparison import Verdict
from orchestrator.wording import counted

MOST_MINUTES = 10.0
TOLERANCE = "5%"
BASELINE, CANDIDATE = "onnxruntime==1.20.1", "onnxruntime==1.21.1"
MATRIX = """\
version: 1
systems: {{cpu: {{cpus: {cpus}, memory: 4g}}}}
frameworks: [{baseline}, {candidate}]
models: [{{name: ours, file: ours.onnx}}]
modes: [infer]
"""
_JUDGED = (0, 1)
"""Exit statuses of a command that has judged."""


def write(model: str, folder: Path) -> None:
    """Write the file of a model with a batch of one, and the matrix that names it."""
    found = record(importlib.import_module(f"benchmarks.models.{model}"))
    content = onnx.file(found.layers, found.inputs, weights.initial(found.layers, 0), 1)
    (folder / "ours.onnx").write_bytes(content)


def run(folder: Path, *arguments: str) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Run a command in a folder. Return the minutes that it took, and its end."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "orchestrator", *arguments]
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False, text=True)
    return (time.perf_counter() - begin) / 60, ended


def main() -> None:
    """Measure the time to a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50_v1_5")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--runtime", choices=("docker", "venv"), default="docker")
    options = parser.parse_args()
    where = ("--runtime", options.runtime)
    with tempfile.TemporaryDirectory(prefix="bench-own-network-", dir="/var/tmp") as place:
        folder = Path(place)
        write(options.model, folder)
        matrix = MATRIX.format(cpus=options.cpus, baseline=BASELINE, candidate=CANDIDATE)
        (folder / "ours.yaml").write_text(matrix)
        run(folder, "run", "-f", "ours.yaml", "--repeats", "1", "--no-parity", *where)
        asked = ("--baseline", BASELINE, "--candidate", CANDIDATE, "--metric", f"throughput={TOLERANCE}")
        minutes, ended = run(folder, "regress", "-f", "ours.yaml", *asked, "--until-precise", "--json", *where)
    if ended.returncode not in _JUDGED:
        sys.exit(f"no verdict: status {ended.returncode}\n{ended.stdout}")
    (pair,) = json.loads(ended.stdout)["data"]["pairs"]
    judged = next(each for each in pair["metrics"] if each["metric"] == "throughput")
    print(json.dumps([figure(options, minutes, judged)]))


def figure(options: argparse.Namespace, minutes: float, judged: dict[str, Any]) -> dict[str, object]:
    """Return the figure for the page, from what was judged of the throughput."""
    asked = f"{counted(options.cpus, 'CPU')}, tolerance {TOLERANCE}"
    what = f"own-network: {options.model} as one's own file, {BASELINE} → {CANDIDATE}, {asked}"
    interval = f"× {judged['ratio']:.3f} ({judged['low']:.3f}–{judged['high']:.3f}), {judged['blocks']} blocks"
    return {
        "name": what,
        "text": f"{judged['verdict']} after {minutes:.1f} min: {interval}",
        "wanted": f"a verdict in {MOST_MINUTES:g} min",
        "within": minutes <= MOST_MINUTES and judged["verdict"] != Verdict.INCONCLUSIVE.value,
    }


if __name__ == "__main__":
    main()
