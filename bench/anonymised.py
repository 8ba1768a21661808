"""Throughput of anonymous networks against that of their originals, of five public architectures.

    python -m bench.anonymised [--only resnet bert] [--pairs 20]

The architectures are exported with random weights by PyTorch and Transformers, in an environment that is made for it.
`orchestrator anonymise` makes each anonymous and measures both networks in the newest known release of ONNX Runtime.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.pairs import Ratio, compare, emit
from orchestrator.domain import Status
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput

BAR = (0.98, 1.02)
NAMES = ("resnet", "mobilenet", "vit", "bert", "gpt2")
PACKAGES = ("torch==2.13.0", "transformers==4.49.0", "onnx>=1.20")
EXPORTS = Path(__file__).parent / "handwritten" / "architectures.py"


def exported(folder: Path, names: list[str]) -> None:
    """Export architectures into a folder."""
    uv = [str(Path(sys.executable).with_name("uv"))]
    links = os.environ.get("PIP_FIND_LINKS", "").split()
    found = [word for link in links for word in ("--find-links", link)]
    python = folder / "exporter" / "bin" / "python"
    subprocess.run([*uv, "venv", "-q", "--python", "3.11", str(folder / "exporter")], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(python), *found, *PACKAGES], check=True)
    subprocess.run([str(python), str(EXPORTS), str(folder), *names], check=True, stdout=sys.stderr)


def anonymised(folder: Path, name: str, pairs: int) -> dict[str, Any]:
    """Make an architecture anonymous, and return what the command says of it."""
    command = [sys.executable, "-m", "orchestrator", "anonymise", f"{name}.onnx", "--repeats", str(pairs), "--json"]
    ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False, text=True)
    if ended.returncode not in {0, 1}:
        sys.exit(f"{name} is not made anonymous: status {ended.returncode}")
    data: dict[str, Any] = json.loads(ended.stdout)["data"]
    print(f"  {name}: {len(data['replaced'])} tensors replaced, {len(data['kept'])} kept", file=sys.stderr, flush=True)
    return data


def ratio(folder: Path, name: str, data: dict[str, Any], pairs: int) -> Ratio:
    """Return the throughput of the anonymous network over that of the original, block by block."""
    run = Run(folder / "results" / data["speed"]["run"])
    counted = f"{len(data['replaced'])} tensors replaced, {len(data['kept'])} kept"
    engine = data["speed"]["engine"].replace("==", " ")
    return compare(
        f"anonymous-{name}", f"anonymous {name}, {counted}", f"the original in {engine}", both_sides(run, pairs),
        bar=BAR, unit="samples/s",
    )  # fmt: skip


def both_sides(run: Run, pairs: int) -> tuple[list[float], list[float]]:
    """Return the throughput of the anonymous network and of the original in each block that has both."""
    cells = {cell.workload.model: cell.id for cell in run.plan().cells}
    blocks = ([_throughput(run, cells[model], each) for model in ("anonymous", "original")] for each in range(pairs))
    known = [(one, other) for one, other in blocks if one is not None and other is not None]
    return [one for one, _ in known], [other for _, other in known]


def _throughput(run: Run, cell: str, repeat: int) -> float | None:
    """Return the throughput of a repeat, or None if it has no result."""
    outcome = run.outcome(cell, repeat)
    result = run.result(outcome) if outcome and outcome.status is Status.OK else None
    return throughput(result, epochs=False) if result else None


def main() -> None:
    """Measure the named architectures, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-anonymised-", dir="/var/tmp") as folder:
        place = Path(folder)
        exported(place, options.only)
        emit([ratio(place, name, anonymised(place, name, options.pairs), options.pairs) for name in options.only])


if __name__ == "__main__":
    main()
