"""Mutated matrices for the command `plan`, which must end with status 0 or 2 and never with a traceback.

python -m bench.robustness.fuzz [--mutations 20000] [--seed 1]
"""

import argparse
import collections
import concurrent.futures
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from bench.robustness.mutations import corpus, mutated
from orchestrator.cli.program import run

PARTS = 20
"""Each has a seed of its own, so that the figures do not depend on how many run at once."""


def ended(path: Path) -> tuple[int | str, str]:
    """Return how `plan --json` ended on a file, and its messages.

    The end is the exit status, or the last line of a traceback.
    """
    messages = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(messages):
            end = run(["plan", "-f", str(path), "--json"])
        lines = messages.getvalue().splitlines()
        return end, "".join(f"{json.loads(line)['message']}\n" for line in lines)
    except BaseException:
        return traceback.format_exc().strip().splitlines()[-1], traceback.format_exc()


Ends = collections.Counter[int | str]


def part(seed: int, mutations: int) -> tuple[Ends, float]:
    """Return how a number of mutations ended, and the seconds of the slowest.

    Wrong ends are printed on stderr.
    """
    generator, matrices = random.Random(seed), corpus()
    ends: Ends = collections.Counter()
    slowest_s = 0.0
    with tempfile.TemporaryDirectory(prefix="bench-fuzz-") as scratch:
        os.chdir(scratch)
        path = Path("matrix.yaml")
        for _ in range(mutations):
            content = mutated(generator, matrices)
            path.write_bytes(content)
            began = time.perf_counter()
            end, messages = ended(path)
            slowest_s = max(slowest_s, time.perf_counter() - began)
            if end == 2 and not messages.startswith("matrix.yaml"):
                end = "refused without a place"
            ends[end] += 1
            if end not in {0, 2}:
                print(f"== {end}\n{content!r}\n{messages}", file=sys.stderr, flush=True)
    return ends, slowest_s


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.robustness.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", "--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + PARTS)
    counts = [options.mutations // PARTS + (number < options.mutations % PARTS) for number in range(PARTS)]
    ends: Ends = collections.Counter()
    slowest_s = 0.0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for some, slow_s in pool.map(part, seeds, counts):
            ends.update(some)
            slowest_s = max(slowest_s, slow_s)
            print(f"  {sum(ends.values())}: {dict(ends)}, slowest {slowest_s:.2f} s", file=sys.stderr, flush=True)
    wrong = sum(count for end, count in ends.items() if end not in {0, 2})
    figure = {
        "name": "mutated matrices given to `plan`", "mutations": options.mutations, "seed": options.seed,
        "ends": {str(end): count for end, count in ends.items()}, "slowest_s": round(slowest_s, 3),
        "text": f"{options.mutations:,} mutations: {ends[0]:,} planned, {ends[2]:,} refused with exit 2 and the place, "
        f"{wrong} otherwise; the slowest took {slowest_s:.2f} s",
        "wanted": "≥ 20,000, no traceback", "within": not wrong and options.mutations >= 20_000,
    }  # fmt: skip
    print(json.dumps([figure]))


if __name__ == "__main__":
    main()
