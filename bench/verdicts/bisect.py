"""`bisect --all` next to brute force for LeNet's training on every MXNet release from 1.2.0 to 1.9.1, in containers.

    python -m bench.verdicts.bisect [--releases 1.2.0 1.9.1] [--max-blocks 12] [--keep FOLDER]

Brute force compares every two neighbours by the same blocks, each pair by its own scatter at one look, with α shared by
all neighbours. A change is a verdict of slower or faster at a tolerance of 5 %. Both must name the same releases, and
the search must take few launches. This takes an hour or more. With `--keep` it goes on where it was, and the runs stay.

The tolerance is not the default of 2 %: on a small host releases scatter so much that steps of that size take days.
The figure says what lies beyond 2 %. Twelve blocks of a step decide it at a scatter of 2 %; a step that they leave
undecided is named as that.

A launch times 80 blocks and no single steps. On a shared host a CPU may be slow for seconds at a time, which the median
of ten blocks follows and that of 80 outlasts.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from orchestrator.analysis.comparison import Comparison, Verdict, compare, looks
from orchestrator.modes.parts.settings import BLOCKS
from orchestrator.regression.rules import BY_NAME, LEAST_BLOCKS
from orchestrator.regression.search.record import Bisection, MeasuredRound
from orchestrator.regression.search.steps import CHANGED
from orchestrator.regression.sides import framework_version

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks: [mxnet==1.9.1]
models: [lenet]
blocks: 80
latency_steps: 0
"""
TOLERANCE, DEFAULT = 0.05, BY_NAME["throughput"].tolerance
METRIC = f"throughput={TOLERANCE:.0%}"
MOST_LAUNCHES = 110
WANTED = f"the same releases, at a tolerance of {100 * TOLERANCE:g} %, in at most {MOST_LAUNCHES} launches"


@dataclass(frozen=True)
class Bisected:
    """The releases that are searched, and the result that is wanted."""

    framework: str
    releases: tuple[str, str]
    """Good and bad."""
    what: str
    """The releases in words."""
    matrix: str
    cell: str
    """A glob of the one cell."""
    wanted: str
    most_launches: float = math.inf
    has_change: bool = True
    """A change is known to be there, and must be found."""

    @property
    def timed_blocks(self) -> int:
        """Return how many blocks a launch times, at least."""
        return int(yaml.safe_load(self.matrix).get("blocks", BLOCKS))


@dataclass(frozen=True)
class Ended:
    """A search, with the time that it took."""

    record: Bisection
    launches_s: float
    """Seconds of all its launches together, with parity checks and what was tried again."""


MXNET = Bisected(
    "mxnet", ("1.2.0", "1.9.1"), "all MXNet releases", MATRIX, "lenet-train-*", WANTED, most_launches=MOST_LAUNCHES
)


def main() -> None:
    print(json.dumps([figure(searched(MXNET, __doc__))]))


def searched(what: Bisected, description: str | None) -> Ended:
    """Return the search that the options of this command ask for."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", nargs=2, default=what.releases, help="those between are searched too")
    parser.add_argument("--max-blocks", type=int, default=12, help="blocks of a release and the next one, at most")
    parser.add_argument("--keep", type=Path, help="a folder to keep the runs in, and to go on in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-bisect-") as scratch:
        folder = (options.keep or Path(scratch)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "matrix.yaml").write_text(what.matrix)
        good, bad = options.releases
        return bisected(what, folder, good, bad, options.max_blocks)


def bisected(what: Bisected, folder: Path, good: str, bad: str, most_blocks: int) -> Ended:
    """Return the search of `orchestrator bisect --all`, which continues in this folder if it was begun there."""
    results = folder / "search"
    known = sorted(results.glob("bisect-*/bisect.json"))
    arguments = ["--resume=latest"] if known else [
        f"--file={folder / 'matrix.yaml'}", f"--good={what.framework}=={good}", f"--bad={what.framework}=={bad}",
        f"--cell={what.cell}", "--all", f"--metric={METRIC}", f"--max-blocks={most_blocks}", "--runtime=docker",
    ]  # fmt: skip
    command = [sys.executable, "-m", "orchestrator", "bisect", *arguments, f"--results={results}", "--json"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"orchestrator bisect ended with {ended.returncode}")
    record = Bisection.model_validate(json.loads(ended.stdout)["data"])
    return Ended(record, launches_s(results / record.name))


def launches_s(search: Path) -> float:
    """Return the seconds of all launches that the runs of a search have recorded."""
    outcomes = [json.loads(path.read_bytes()) for path in search.rglob("outcome.json")]
    return math.fsum(outcome["wall_s"] for outcome in outcomes)


def brute_force(record: Bisection) -> dict[str, Comparison | None]:
    """Return every testable release compared with the one before it, by all blocks of a search that have both."""
    found = record.found
    steps = found.steps if found else ()
    rounds = [each for each in record.rounds if not each.change]
    texts = {framework_version(text): text for each in rounds for text in each.releases}
    return {
        step.after: _compared(pairs(rounds, texts[step.before], texts[step.after]), family=len(steps)) for step in steps
    }


def pairs(rounds: Sequence[MeasuredRound], before: str, after: str) -> list[tuple[float, float]]:
    """Return both values of two releases in each block that has both."""
    blocks = (dict(zip(each.releases, block, strict=True)) for each in rounds for block in each.values)
    both = ((block.get(before), block.get(after)) for block in blocks)
    return [(one, other) for one, other in both if one is not None and other is not None]


def _compared(values: Sequence[tuple[float, float]], family: int) -> Comparison | None:
    if len(values) < LEAST_BLOCKS:
        return None
    (look,) = looks(family, blocks=[len(values)])
    return compare(
        [one for one, _ in values],
        [other for _, other in values],
        tolerance=TOLERANCE,
        higher_is_better=BY_NAME["throughput"].higher_is_better,
        confidence=look.confidence,
        equivalence=look.equivalence,
        paired=True,
    )


def figure(ended: Ended, what: Bisected = MXNET) -> dict[str, Any]:
    """Return the figure on whether both name the same releases, and on the launches of the search."""
    record = ended.record
    brute = brute_force(record)
    found = record.found.releases if record.found else None
    named = sorted(span.after for span in (found.changes if found else ()))
    open_steps = [span.after for span in (found.unsettled if found else ())]
    verdicts = {after: compared.verdict if compared else Verdict.INCONCLUSIVE for after, compared in brute.items()}
    wanted = sorted(after for after, verdict in verdicts.items() if verdict in CHANGED)
    undecided = [after for after, verdict in verdicts.items() if verdict is Verdict.INCONCLUSIVE]
    launches = sum(each.launches for each in record.rounds if not each.change)
    moves = record.launches - launches
    values = {after: [each.ratio, each.low, each.high] if each else [None] * 3 for after, each in brute.items()}
    return {
        "name": f"bisect --all beside brute force over {what.what}",
        "text": f"bisect: {listed(named)} ({launches} launches of {what.timed_blocks} timed blocks each, and {moves} "
        f"for what moved; `--max-blocks={record.asked.looks[-1]}`; {ended.launches_s:,.0f} s in launches), "
        f"undecided {listed(open_steps)}; brute force by the same blocks: {listed(wanted)}, "
        f"undecided {listed(undecided)}; {beside_the_default(values)}",
        "wanted": what.wanted,
        "within": named == wanted and (bool(wanted) or not what.has_change) and launches <= what.most_launches,
        "values": values,
    }


def beside_the_default(values: Mapping[str, Sequence[float | None]]) -> str:
    """Return the tolerance, and the neighbours that lie beyond the default one."""
    low_end, high_end = 1 / (1 + DEFAULT), 1 + DEFAULT
    known = {after: (each[0], each[1], each[2]) for after, each in values.items() if each[1] and each[2]}
    beyond = [after for after, (_, low, high) in known.items() if low > high_end or high < low_end]
    across = [
        after for after, (_, low, high) in known.items() if after not in beyond and (low < low_end or high > high_end)
    ]
    described = [f"{after} × {known[after][0]:.3f} ({known[after][1]:.3f}–{known[after][2]:.3f})" for after in beyond]
    return (
        f"the tolerance is {100 * TOLERANCE:g} %; "
        f"beyond the default of {100 * DEFAULT:g} % lie {listed(described)}; not decided at that: {listed(across)}"
    )


def listed(releases: Sequence[str]) -> str:
    return ", ".join(releases) or "none"


if __name__ == "__main__":
    main()
