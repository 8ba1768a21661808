"""`kill -9` of the orchestrator at random moments, and `--resume` until the run is complete without loss or duplicate.

    python -m bench.robustness.killing [--moments 50] [--seed 1]

A run measures PyTorch and nothing (`noop`), with the parity check of PyTorch before it. It begins as a person begins
it. At a random moment it is killed with all its processes, and then resumed, four times in all. Then it runs to its
end. During every second run another process burns the CPU, so that the repeats are disturbed and measured again. For
every kill the figure says when it came, what the run was doing, and how many repeats were measured by then.

A run is complete if every repeat ended `ok`, with one result of its own. What had been measured before a kill must be
byte for byte as it was. As many disturbed measurements must be stored as the outcomes say, and no more than the limit.
Afterwards the engine must hold no container of the run.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker

from orchestrator.devices import Allocation, allocate, inventory
from orchestrator.domain import System

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 1g}}
frameworks: [noop==1, torch==2.13.0]
models: [{name: mlp, batch_size: 32}]
repeats: 2
"""
REPEATS = 4
KILLS = 4
"""Kills of one run."""
IN_THE_MIDDLE = ("checking parity", "measuring", "measuring again")
HOG = "import os\nos.sched_setaffinity(0, [{cpu}])\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


def command(results: Path) -> list[str]:
    """Return the command that begins a run, or resumes the one that exists."""
    begun = any(results.glob("*/run.json"))
    arguments = ["--resume", "latest"] if begun else ["--runtime", "docker"]
    return [sys.executable, "-m", "orchestrator", "run", "--idle-wait", "0", *arguments, "--results", str(results)]


def run(folder: Path, results: Path, kill_after_s: float | None = None) -> float:
    """Return the seconds that a run took to its end, or until it was killed."""
    began = time.perf_counter()
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            command(results), cwd=folder, stdout=log, stderr=log, start_new_session=True,
            # The cache is new, as an old one may hold the answer of a parity check.
            env=os.environ | {"XDG_CACHE_HOME": str(results) + "-cache"},
        )  # fmt: skip
        try:
            process.wait(kill_after_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return time.perf_counter() - began


@contextlib.contextmanager
def hog(*, on: bool) -> Iterator[None]:
    """Burn the CPU that the cells use, as any other process of the host could."""
    allocation = allocate(System("cpu", cpus=1), inventory())
    if not on or not isinstance(allocation, Allocation):
        yield
        return
    with subprocess.Popen([sys.executable, "-c", HOG.format(cpu=allocation.cpus[0])]) as process:
        try:
            yield
        finally:
            process.kill()


def outcomes(results: Path) -> dict[Path, dict[str, Any]]:
    """Return the outcome of every repeat by its folder."""
    return {path.parent: json.loads(path.read_bytes()) for path in of_repeats(results, "outcome.json")}


def of_repeats(results: Path, name: str) -> list[Path]:
    """Return the files of a name, one for each repeat that has one."""
    return [path for path in results.glob(f"*/*/*/*/{name}") if path.parts[-4] != "parity"]


def measured(results: Path) -> dict[Path, bytes]:
    """Return the bytes of every outcome that is `ok` and of its result."""
    ends = [folder for folder, outcome in outcomes(results).items() if outcome["status"] == "ok"]
    return {path: path.read_bytes() for end in ends for path in (end / "outcome.json", end / "result.json")}


def doing(results: Path) -> str:
    """Return what a run was doing when it was killed, by its files."""
    if not any(results.glob("*/run.json")):
        return "not begun"
    if len(outcomes(results)) == REPEATS:
        return "reporting"
    requested = [path.parent for path in of_repeats(results, "request.json")]
    under_way = [folder for folder in requested if not (folder / "outcome.json").exists()]
    if under_way:
        return "measuring again" if any(disturbed(folder) for folder in under_way) else "measuring"
    checks = [path for path in results.glob("*/parity/*/*/request.json") if not path.with_name("outcome.json").exists()]
    return "checking parity" if checks else "between two steps"


def disturbed(folder: Path) -> int:
    """Return the number of measurements of a repeat that were set aside because they were disturbed."""
    attempts = [json.loads(path.read_bytes()) for path in folder.glob("attempt-*/outcome.json")]
    return sum(attempt["status"] == "ok" and bool(attempt["disturbance"]) for attempt in attempts)


def problem(results: Path, before: dict[Path, bytes], client: docker.DockerClient) -> str:
    """Return a sentence on what is lost, doubled or left over, or "" for a complete run."""
    runs = list(results.glob("*/run.json"))
    if len(runs) != 1:
        return f"{len(runs)} runs"
    after = measured(results)
    if len(after) != 2 * REPEATS:
        return f"{len(after) // 2} of {REPEATS} repeats measured"
    if any(after.get(path) != content for path, content in before.items()):
        return "what was measured before a kill has changed"
    for folder, outcome in outcomes(results).items():
        result = json.loads((folder / "result.json").read_bytes())
        if (result["cell"], str(result["repeat"])) != (str(folder.parent.relative_to(runs[0].parent)), folder.name):
            return f"{folder} holds the result of another repeat"
        if not outcome["remeasured"] == disturbed(folder) <= 1:
            return f"{folder}: {outcome['remeasured']} measured again, {disturbed(folder)} kept"
    left = client.containers.list(all=True, filters={"label": f"bench.run={runs[0].parent.name}"})
    return f"{len(left)} containers left" if left else ""


def killed(folder: Path, number: int, whole_s: float, generator: random.Random) -> tuple[list[dict[str, Any]], str]:
    """Kill and resume one run, and return its kills and the problem at its end."""
    results = folder / f"run-{number}"
    kills: list[dict[str, Any]] = []
    before: dict[Path, bytes] = {}
    with contextlib.closing(docker.from_env()) as client, hog(on=number % 2 == 0):
        for _ in range(KILLS):
            after_s = run(folder, results, generator.uniform(0.05, 0.6) * whole_s)
            now = measured(results)
            if any(now.get(path) != content for path, content in before.items()):
                return kills, "what was measured before a kill has changed"
            before = now
            kills.append({"run": number, "after_s": round(after_s, 2), "doing": doing(results), "kept": len(now) // 2})
            print(f"  {kills[-1]}", file=sys.stderr)
        run(folder, results)
        return kills, problem(results, before, client)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.robustness.killing", description=__doc__.splitlines()[0])
    parser.add_argument("--moments", "--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    kills: list[dict[str, Any]] = []
    problems: list[str] = []
    again = 0
    with tempfile.TemporaryDirectory(prefix="bench-killing-") as scratch:
        folder = Path(scratch)
        (folder / "matrix.yaml").write_text(MATRIX)
        run(folder, folder / "warm")
        whole_s = run(folder, folder / "whole")
        runs = -(-options.moments // KILLS)
        for number in range(1, runs + 1):
            kills_of_run, wrong = killed(folder, number, whole_s, generator)
            kills += kills_of_run
            again += sum(outcome["remeasured"] for outcome in outcomes(folder / f"run-{number}").values())
            problems += [f"run {number}: {wrong}"] if wrong else []
            print(f"  {number}/{runs}: {wrong or 'complete'}", file=sys.stderr)
    middle = sum(kill["doing"] in IN_THE_MIDDLE for kill in kills)
    enough = 0.6 * len(kills)
    text = (
        f"{runs - len(problems)} of {runs} runs complete after {len(kills)} kills, {middle} of them in the middle of a "
        f"check or a measurement; {again} repeats measured again" + ("" if problems else "; nothing lost or doubled")
    )
    print(text + "".join(f"; {line}" for line in problems), file=sys.stderr)
    figure = {
        "name": "`kill -9` at random moments of runs, resumed", "moments": len(kills), "runs": runs,
        "complete": runs - len(problems), "problems": problems, "whole_run_s": round(whole_s, 2), "seed": options.seed,
        "doing": dict(Counter(kill["doing"] for kill in kills)), "measured_again": again, "kills": kills, "text": text,
        "wanted": "all complete, nothing lost or doubled; three kills of five in the middle of something",
        "within": not problems and middle >= enough and again > 0,
    }  # fmt: skip
    print(json.dumps([figure]))


if __name__ == "__main__":
    main()
