"""Regression tests with a known answer in containers, which are a planted slowdown and a release against itself.

    python -m bench.verdicts.regress [--only planted itself]

`planted` waits, after each synchronised block of LeNet's training on MXNet 1.9.1, for 5 % of the block's time:
`regress` must call it slower, confirm it, and have 1/1.05 in its interval. `itself` compares MXNet 1.9.1 with itself in
twenty cells, adaptive to 24 blocks unless `--pairs` says otherwise, and no confirmed alarm is wanted. It takes about
two hours.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.records import ROOT

PLANTED = ROOT / "bench" / "planted"
SLOWDOWN = 1 / 1.05
# One CPU leaves another for other processes of the host.
MATRICES = {
    "planted": """
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks:
- mxnet==1.9.1
- {name: mxnet, version: planted, dockerfile: planted/Dockerfile}
models: [lenet]
""",
    "itself": """
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks: [mxnet==1.9.1]
models:
- {name: lenet, batch_size: [8, 16, 32, 64, 128]}
- {name: mlp, batch_size: [8, 16, 32, 64, 128]}
modes: [train, infer]
""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(MATRICES), default=sorted(MATRICES))
    parser.add_argument("--pairs", type=int, default=24, help="blocks, at most")
    options = parser.parse_args()
    figures = []
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix=f"bench-regress-{name}-") as scratch:
            folder = Path(scratch)
            (folder / "matrix.yaml").write_text(MATRICES[name])
            candidate = "planted" if name == "planted" else "1.9.1"
            if name == "planted":
                plant(folder)
            figures.append(FIGURES[name](judged(folder, candidate, options.pairs)))
    print(json.dumps(figures))


def plant(folder: Path) -> None:
    """Put an image next to the matrix that is based on ours and waits."""
    (folder / "own.yaml").write_text("version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet]\n")
    build = [sys.executable, "-m", "orchestrator", "build", f"--file={folder / 'own.yaml'}"]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    # The base is named by its id: an unchanged Dockerfile is not built again, even if its base's name has moved.
    inspect = ["docker", "image", "inspect", "--format={{.Id}}", "bench/mxnet:1.9.1-cpu"]
    base = subprocess.run(inspect, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    place = folder / "planted"
    place.mkdir()
    shutil.copy(PLANTED / "sitecustomize.py", place)
    (place / "Dockerfile").write_text(
        f"FROM {base}\nCOPY sitecustomize.py /opt/planted/\nENV PYTHONPATH=/opt/planted PLANTED_WAIT=0.05\n"
    )


def judged(folder: Path, candidate: str, most_blocks: int) -> dict[str, Any]:
    """Return the result of `orchestrator regress` for a candidate against MXNet 1.9.1."""
    command = [sys.executable, "-m", "orchestrator", "regress", f"--file={folder / 'matrix.yaml'}"]
    command += ["--baseline=mxnet==1.9.1", f"--candidate=mxnet=={candidate}", "--until-precise", "--runtime=docker"]
    command += [f"--max-blocks={most_blocks}", f"--results={folder / 'results'}", "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"orchestrator regress ended with {ended.returncode}")
    document: dict[str, Any] = json.loads(ended.stdout)["data"]
    return document


def throughput(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((each for each in pair["metrics"] if each["metric"] == "throughput"), {"verdict": pair["verdict"]})


def planted(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure on whether the planted slowdown was detected and lies in its interval."""
    judged = throughput(document["pairs"][0])
    low, high = judged.get("low") or 0.0, judged.get("high") or 0.0
    confirmed = bool((judged.get("confirmation") or {}).get("confirmed"))
    return {
        "name": "a candidate that waits, after each block, 5 % of its time",
        "text": f"{judged['verdict']}{', confirmed' if confirmed else ''}, {judged.get('ratio', 0):.3f} "
        f"({low:.3f}–{high:.3f}), {judged.get('blocks', 0)} blocks",
        "wanted": "slower, confirmed, interval holding 1/1.05 = 0.952",
        "within": judged["verdict"] == "slower" and confirmed and low <= SLOWDOWN <= high,
        "values": judged.get("values", []),
    }


def itself(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure on how many of twenty cells of one release raise a confirmed alarm against that release."""
    verdicts = [throughput(pair)["verdict"] for pair in document["pairs"]]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
    blocks = [throughput(pair).get("blocks", 0) for pair in document["pairs"]]
    ratios = [throughput(pair).get("ratio") for pair in document["pairs"]]
    missed = [throughput(pair).get("minimum_detectable_effect") or 0 for pair in document["pairs"]]
    return {
        "name": "MXNet 1.9.1 against itself, twenty cells",
        "text": f"{counted}; {sum(blocks) / len(blocks):.1f} blocks a cell, {ways(document['looks'], ratios)}; "
        f"could have missed less than {100 * max(missed):.1f} %",
        "wanted": "no confirmed alarm",
        "within": not {"slower", "broke"} & {*verdicts} and len(verdicts) == 20,
        "values": ratios,
    }


def ways(looks: Sequence[int], ratios: Sequence[float | None]) -> str:
    """Return the numbers of blocks at the looks, and the range of the ratios."""
    known = [ratio for ratio in ratios if ratio is not None]
    between = f"ratios {min(known):.3f}–{max(known):.3f}" if known else "no ratios"
    return f"looked at after {', '.join(map(str, looks))}; {between}"


FIGURES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"planted": planted, "itself": itself}

if __name__ == "__main__":
    main()
