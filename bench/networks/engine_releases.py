"""Every release of a serving engine that the catalog names as known, asked for one network.

    python -m bench engine_releases [--only openvino] [--runtime docker] [--keep FOLDER]

Each release infers LeNet in an environment of its own. That each ends `ok` is the figure, and no time is. The
environments of all 68 releases take some 20 GB. With `--keep` it goes on where it was.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.kept_run import kept_run
from orchestrator import resources
from orchestrator.catalog import load

ENGINES = ("onnxruntime", "openvino")
MATRIX = """\
version: 1
name: {engine}-releases
systems: {{cpu: {{cpus: 1, memory: 4g}}}}
frameworks: {frameworks}
models: [{{name: lenet, batch_size: 8}}]
modes: infer
repeats: 1
steps: 2
warmup_steps: 1
latency_steps: 5
blocks: 2
parity: false
"""


def pins(engine: str) -> list[str]:
    """Return the known releases of an engine, the newest first."""
    return [f"{engine}=={version}" for version in load(resources.IMAGES / "catalog").entries[engine].known]


def figure(engine: str, asked: list[str], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure on the releases of an engine that have answered, with the end of each other one."""
    ends = {}
    for cell in report["cells"]:
        framework, (repeat,) = cell["cell"]["framework"], cell["repeats"]
        outcome = repeat["outcome"]
        end = outcome["status"] if outcome["status"] == "ok" else f"{outcome['status']}: {outcome['reason']}"
        ends[f"{framework['name']}=={framework['version']}"] = end
    ended = {pin: ends.get(pin, "no cell") for pin in asked}
    others = [f"{pin} {end}" for pin, end in ended.items() if end != "ok"]
    said = f"{len(ended) - len(others)} of {len(ended)} infer LeNet"
    return {
        "name": f"known releases of {engine}, each in an environment of its own",
        "text": "; ".join([said, *others]),
        "wanted": "each of them",
        "within": not others,
        "values": ended,
    }


def main() -> None:
    """Ask the releases of each engine, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--keep", type=Path, help="a folder to keep the runs in, and to go on in")
    parser.add_argument("--runtime", default="docker")
    parser.add_argument("--pairs", type=int, help="ignored: each release is asked once")
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="bench-engine-releases-") as scratch:
        for engine in options.only:
            folder = (options.keep or Path(scratch)).absolute() / engine
            folder.mkdir(parents=True, exist_ok=True)
            asked = pins(engine)
            matrix = MATRIX.format(engine=engine, frameworks=json.dumps(asked))
            figures.append(figure(engine, asked, kept_run(folder, "releases", matrix, options.runtime)))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
