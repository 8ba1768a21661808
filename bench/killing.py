"""`kill -9` of the orchestrator at random moments, and `--resume` until the run is complete: what is lost or doubled?

    python -m bench.killing [--moments 50] [--seed 1]

Every moment is a run of its own: it is started as a person starts it, killed with all its processes after a random part
of the time that a whole run takes, and gone on with. Complete is a run in which every repeat ended `ok`, with one
result that is its own; in which what had been measured before the kill is byte for byte as it was, and was not launched
again; and after which the engine holds no container of it.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import docker

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 256m}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: [1, 2]}]
repeats: 2
"""
REPEATS = 4


def command(results: Path) -> list[str]:
    """Begin a run, or go on with the one that is there."""
    begun = any(results.glob("*/run.json"))
    how = ["--resume", "latest"] if begun else ["--runtime", "docker"]
    return [sys.executable, "-m", "orchestrator", "run", "--idle-wait", "0", *how, "--results", str(results)]


def run(folder: Path, results: Path, kill_after_s: float | None = None) -> float:
    """Seconds that a run took to its end, or until it was killed."""
    began = time.perf_counter()
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            command(results), cwd=folder, stdout=log, stderr=log, start_new_session=True,
            env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")},
        )  # fmt: skip
        try:
            process.wait(kill_after_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return time.perf_counter() - began


def measured(results: Path) -> dict[Path, bytes]:
    """Every outcome that is `ok` and its result, as bytes."""
    ends = [path for path in results.glob("*/*/*/*/outcome.json") if json.loads(path.read_bytes())["status"] == "ok"]
    return {path: path.read_bytes() for end in ends for path in (end, end.with_name("result.json"))}


def problem(results: Path, before: dict[Path, bytes], client: docker.DockerClient) -> str:
    """What is lost, doubled or left; empty where all is as it should be."""
    runs = list(results.glob("*/run.json"))
    if len(runs) != 1:
        return f"{len(runs)} runs"
    after = measured(results)
    if len(after) != 2 * REPEATS:
        return f"{len(after) // 2} of {REPEATS} repeats measured"
    if any(after.get(path) != content for path, content in before.items()):
        return "what was measured before the kill has changed"
    for path, content in after.items():
        if path.name == "result.json":
            result = json.loads(content)
            if (result["cell"], str(result["repeat"])) != (
                str(path.parents[1].relative_to(runs[0].parent)),
                path.parent.name,
            ):
                return f"{path} is the result of another repeat"
    left = client.containers.list(all=True, filters={"label": f"bench.run={runs[0].parent.name}"})
    return f"{len(left)} containers left" if left else ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.killing", description=__doc__.splitlines()[0])
    parser.add_argument("--moments", "--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    client = docker.from_env()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bench-killing-") as scratch:
        folder = Path(scratch)
        (folder / "matrix.yaml").write_text(MATRIX)
        run(folder, folder / "warm")
        whole_s = run(folder, folder / "whole")
        for moment in range(1, options.moments + 1):
            results = folder / f"moment-{moment}"
            killed_s = run(folder, results, generator.uniform(0.02, 1.0) * whole_s)
            before = measured(results)
            run(folder, results)
            found = problem(results, before, client)
            problems += [f"killed after {killed_s:.2f} s: {found}"] if found else []
            print(
                f"  {moment}/{options.moments}: {killed_s:.2f} s, {len(before) // 2} kept, {found or 'complete'}",
                file=sys.stderr,
            )
    client.close()
    complete = options.moments - len(problems)
    print(
        f"{complete} of {options.moments} complete, " + ("; ".join(problems) or "nothing lost or doubled"),
        file=sys.stderr,
    )
    figure = {
        "name": "`kill -9` at random moments of a run, resumed", "moments": options.moments, "complete": complete,
        "problems": problems, "whole_run_s": round(whole_s, 2), "seed": options.seed,
        "text": f"{complete} of {options.moments} complete" + ("" if problems else ", nothing lost or doubled"),
        "wanted": "all complete, nothing lost or doubled", "within": not problems,
    }  # fmt: skip
    print(json.dumps([figure]))


if __name__ == "__main__":
    main()
