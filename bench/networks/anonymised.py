"""Anonymous networks against their originals, of five public architectures: what is left, and the throughput.

    python -m bench.networks.anonymised [--only resnet bert] [--pairs 20]

The architectures are exported with random weights by PyTorch and Transformers, in an environment that is made for it.
`orchestrator anonymise` makes each anonymous and measures both networks in the newest known release of ONNX Runtime.
What is left is searched for in the bytes of the new file, without the roles that the command gave the tensors.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from bench.pairs import Ratio, compare
from bench.records import ROOT
from orchestrator.domain import Status
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput

BAR = (0.98, 1.02)
NAMES = ("resnet", "mobilenet", "vit", "bert", "gpt2")
SHORTENED = {"vit": "four layers", "bert": "four layers", "gpt2": "four layers"}
SHORTEST_NAME = 6
"""Letters of a name that is searched for. Shorter ones are found by chance among numbers."""
FEWEST_VALUES = 17
"""Different numbers that a tensor has at least which these architectures could have learned."""
PACKAGES = ("torch==2.13.0", "transformers==4.49.0", "onnx>=1.20")
EXPORTS = ROOT / "bench" / "handwritten" / "architectures.py"


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


def left(original: onnx.ModelProto, content: bytes) -> tuple[list[str], int, int]:
    """Return the names and learned tensors of a network that are in the bytes of a file, and how many there are.

    Every tensor of real numbers with many different values could have been learned in these architectures.
    """
    own = {schema.name for schema in onnx.defs.get_all_schemas()}
    names = {name for name in named(original.graph) if len(name) >= SHORTEST_NAME and name not in own}
    learned = {name: values for name, values in stored(original.graph) if len(np.unique(values)) >= FEWEST_VALUES}
    found = [name for name in sorted(names) if name.encode() in content]
    found += [f"the numbers of {name}" for name, values in learned.items() if values.tobytes() in content]
    return found, len(names), len(learned)


def named(graph: onnx.GraphProto) -> Iterator[str]:
    """Yield the names of everything in a graph."""
    yield graph.name
    yield from (each.name for each in (*graph.input, *graph.output, *graph.value_info, *graph.initializer))
    for node in graph.node:
        yield from (node.name, *node.input, *node.output)


def stored(graph: onnx.GraphProto) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield the tensors of real numbers that a graph stores."""
    constants = ((node.output[0], each.t) for node in graph.node for each in node.attribute if each.HasField("t"))
    for name, tensor in (*((each.name, each) for each in graph.initializer), *constants):
        values = numpy_helper.to_array(tensor)
        if values.dtype.kind == "f":
            yield name, values


def remainder(folder: Path, name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the row of what is left of an architecture in its anonymous file."""
    content = Path(folder, data["file"]).read_bytes()
    found, names, learned = left(onnx.load(folder / f"{name}.onnx"), content)
    of = f"{name} of {SHORTENED[name]}" if name in SHORTENED else name
    return {
        "name": f"anonymous {of}: left of the original",
        "text": f"{len(found)} of {names} names and {learned} learned tensors{': ' if found else ''}"
        f"{', '.join(found[:3])}; {len(data['replaced'])} tensors replaced, {len(data['kept'])} kept",
        "wanted": "0",
        "within": not found,
    }


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
        rows: list[dict[str, Any]] = []
        for name in options.only:
            data = anonymised(place, name, options.pairs)
            found = ratio(place, name, data, options.pairs)
            rows += [asdict(found) | {"within": found.within}, remainder(place, name, data)]
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
