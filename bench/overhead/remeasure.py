"""Repeated measurements of real cells, in separate runs, against the prediction of the first report.

    python -m bench.overhead.remeasure [--repeats 6] [--pairs 10]

One run of `orchestrator run` measures each cell a few times, and its report states where a further repeat will lie.
Then each of several further runs measures every cell once. Nine of ten must lie inside. Next to the stated interval are
its width and the count for the usual one of 95 %, which is narrower: a claim may hold only because it says little.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.analysis.estimates import PREDICTION, prediction

MATRIX = """
version: 1
name: remeasure
systems: {cpu: {cpus: 2, memory: 8g}}
frameworks: [torch==2.13.0, mxnet==1.9.1]
models:
  - {name: lenet, batch_size: 64}
  - {name: mlp, batch_size: 128}
# Else processes of one program differ by accidents of the heap's layout: docs/measurement.md.
options: {torch: {env.MALLOC_MMAP_THRESHOLD_: [33554432], env.MALLOC_TRIM_THRESHOLD_: [1073741824]}}
exclude: [{framework: mxnet, model: mlp}]
parity: false
"""
USUAL = 0.95


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10, help="runs that measure again")
    parser.add_argument("--repeats", type=int, default=6, help="repeats that state the interval")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-remeasure-") as scratch:
        stated = measured(Path(scratch), options.repeats)
        again = []
        for number in range(options.pairs):
            print(f"  run {number + 1}/{options.pairs}", file=sys.stderr, flush=True)
            again.append(measured(Path(scratch), 1))
    figures = [
        figure(cell, stated[cell], [value for run in again for value in run[cell]["values"]]) for cell in sorted(stated)
    ]
    print(json.dumps(figures))


def measured(folder: Path, repeats: int) -> dict[str, dict[str, Any]]:
    """Return the values of each cell's repeats, and the prediction for a further one, from a run's report."""
    matrix = folder / "matrix.yaml"
    matrix.write_text(MATRIX)
    command = [sys.executable, "-m", "orchestrator", "run", f"--file={matrix}", f"--results={folder / 'results'}"]
    command += [f"--repeats={repeats}", "--runtime=docker", "--json"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return dict(_cells(json.loads(answer)["data"]))


def _cells(report: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for cell in report["cells"]:
        values = [repeat["measurement"]["samples_per_s"] for repeat in cell["repeats"]]
        name, work = cell["cell"]["framework"], cell["cell"]["workload"]
        yield f"{name['name']} {name['version']}, {work['model']} b{work['batch_size']}", {
            "values": values, "estimate": cell["measurement"]["throughput"],
        }  # fmt: skip


def figure(cell: str, stated: Mapping[str, Any], again: Sequence[float]) -> dict[str, Any]:
    """Return the figure on how many new values lie inside the stated interval, and on its width."""
    estimate = stated["estimate"]
    ends = estimate["next_low"], estimate["next_high"]
    narrow = prediction(stated["values"], confidence=USUAL)
    predicted, usual = inside(ends, again), inside(narrow, again)
    text = (
        f"{predicted} of {len(again)} runs inside the {PREDICTION:.0%} prediction interval of {estimate['n']} repeats, "
        f"{width(ends, estimate['value'])}; {usual} inside that of {USUAL:.0%}, {width(narrow, estimate['value'])}"
    )
    return {
        "name": f"{cell}, measured again",
        "text": text,
        "wanted": "at least 9 of 10",
        "within": predicted >= 0.9 * len(again),
        "stated": {"values": stated["values"], "value": estimate["value"], "ends": ends, "usual_ends": narrow},
        "values": list(again),
        "unit": "samples/s",
    }


def inside(ends: tuple[float | None, float | None], values: Sequence[float]) -> int:
    """Return the number of values that lie between two ends."""
    low, high = ends
    if low is None or high is None:
        raise ValueError("one repeat states no interval")
    return sum(low <= value <= high for value in values)


def width(ends: tuple[float | None, float | None], value: float) -> str:
    """Return the distance of two ends from a value, such as `-14 to +17 %`."""
    low, high = (100 * ((end or value) / value - 1) for end in ends)
    return f"{low:+.1f} to {high:+.1f} %"


if __name__ == "__main__":
    main()
