"""`bisect --all` next to brute force for LeNet's training on every MXNet release from 1.2.0 to 1.9.1, in containers.

    python -m bench.bisect [--releases 1.2.0 1.3.1 …] [--pairs 24] [--keep FOLDER]

Brute force runs `orchestrator regress` on every two neighbours among the releases of the search. A change is a verdict
of slower or faster at a tolerance of 10 %. Both must name the same releases. This takes an hour or more. With `--keep`
it continues where it was, and the runs stay. `--releases` takes the first and the last release of the search; the
others are for brute force alone.

The tolerance is not the default of 2 %: LeNet's ratio of one pair of releases differs by 4 % from hour to hour on a
small host, so that the two would differ by that, as they measure at different hours. The figure says what lies beyond
2 %.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from orchestrator.regression.rules import BY_NAME

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks: [mxnet==1.9.1]
models: [lenet]
"""
TOLERANCE, DEFAULT = 0.1, BY_NAME["throughput"].tolerance
METRIC = f"throughput={TOLERANCE:.0%}"
CHANGED = {"slower", "faster"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", nargs="+", default=["1.2.0", "1.9.1"], help="two: those between are searched too")
    parser.add_argument("--pairs", type=int, default=24, help="blocks of one probe, at most")
    parser.add_argument("--keep", type=Path, help="a folder to keep the runs in, and to go on in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-bisect-") as scratch:
        folder = (options.keep or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "matrix.yaml").write_text(MATRIX)
        searched = bisected(folder, options.releases[0], options.releases[-1], options.pairs)
        untestable = {each["release"] for each in searched["found"]["releases"]["untestable"]}
        releases = options.releases if len(options.releases) > 2 else searched["releases"]
        tested = [release for release in releases if release not in untestable]
        brute = {after: neighbours(folder, before, after, options.pairs) for before, after in pairwise(tested)}
    print(json.dumps([figure(searched, brute)]))


def bisected(folder: Path, good: str, bad: str, most_blocks: int) -> dict[str, Any]:
    """Return the search of `orchestrator bisect --all`, which continues in this folder if it was begun there."""
    results = folder / "search"
    known = sorted(results.glob("bisect-*/bisect.json"))
    arguments = ["--resume=latest"] if known else [
        f"--file={folder / 'matrix.yaml'}", f"--good=mxnet=={good}", f"--bad=mxnet=={bad}", "--cell=lenet-train-*",
        "--all", f"--metric={METRIC}", f"--max-blocks={most_blocks}", "--runtime=docker",
    ]  # fmt: skip
    return answered("bisect", *arguments, f"--results={results}")


def neighbours(folder: Path, before: str, after: str, most_blocks: int) -> dict[str, Any]:
    """Return the judgement of `orchestrator regress` on throughput between two releases."""
    results = folder / f"{before}-{after}"
    known = sorted(results.glob("*/trial.json"))
    arguments = [f"--resume={known[-1].parent.name}"] if known else [
        f"--file={folder / 'matrix.yaml'}", f"--baseline=mxnet=={before}", f"--candidate=mxnet=={after}",
        f"--metric={METRIC}", "--until-precise", "--no-confirm", f"--max-blocks={most_blocks}", "--runtime=docker",
    ]  # fmt: skip
    (pair,) = answered("regress", *arguments, f"--results={results}")["pairs"]
    judged = next((each for each in pair["metrics"] if each["metric"] == "throughput"), {"verdict": pair["verdict"]})
    return dict(judged)


def answered(command: str, *arguments: str) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "orchestrator", command, *arguments, "--json"], stdout=subprocess.PIPE, check=False
    )
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"orchestrator {command} ended with {ended.returncode}")
    document: dict[str, Any] = json.loads(ended.stdout)["data"]
    return document


def figure(searched: dict[str, Any], brute: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the figure on whether both name the same releases, and on the blocks that each measured."""
    releases = searched["found"]["releases"]
    named = sorted(span["after"] for span in releases["changes"])
    wanted = sorted(after for after, judged in brute.items() if judged["verdict"] in CHANGED)
    undecided = [after for after, judged in brute.items() if judged["verdict"] not in {*CHANGED, "same"}]
    pairs: dict[tuple[str, str], int] = {}
    for probe in searched["probes"]:
        pair = probe["baseline"], probe["candidate"]
        pairs[pair] = max(pairs.get(pair, 0), probe["blocks"])
    values = {after: [judged.get(key) for key in ("ratio", "low", "high")] for after, judged in brute.items()}
    spent = sum(judged.get("blocks", 0) for judged in brute.values())
    return {
        "name": "bisect --all beside brute force over all MXNet releases",
        "text": f"bisect: {listed(named)} ({sum(pairs.values())} blocks); "
        f"brute force: {listed(wanted)} ({spent} blocks); undecided by brute force: {listed(undecided)}; "
        f"{beside_the_default(values)}",
        "wanted": f"the same releases, at a tolerance of {100 * TOLERANCE:g} %",
        "within": named == wanted and bool(wanted),
        "values": values,
    }


def beside_the_default(values: Mapping[str, Sequence[float | None]]) -> str:
    """Return the reason for the wide tolerance, and the neighbours that lie beyond the default one."""
    low_end, high_end = 1 / (1 + DEFAULT), 1 + DEFAULT
    known = {after: (each[0], each[1], each[2]) for after, each in values.items() if each[1] and each[2]}
    beyond = [after for after, (_, low, high) in known.items() if low > high_end or high < low_end]
    across = [
        after for after, (_, low, high) in known.items() if after not in beyond and (low < low_end or high > high_end)
    ]
    described = [f"{after} × {known[after][0]:.3f} ({known[after][1]:.3f}–{known[after][2]:.3f})" for after in beyond]
    reason = "since one pair's ratio differs by 4 % from hour to hour on a small host"
    return (
        f"the tolerance is {100 * TOLERANCE:g} %, {reason}; "
        f"beyond the default of {100 * DEFAULT:g} % lie {listed(described)}; not decided at that: {listed(across)}"
    )


def listed(releases: Sequence[str]) -> str:
    return ", ".join(releases) or "none"


if __name__ == "__main__":
    main()
