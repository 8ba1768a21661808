"""Groups of cells that sleep, as a run on the faked nodes of a Slurm cluster of this machine, in real time.

Each of 64 scripts is a group. It sleeps ten seconds in each of two to six repeats, so that a group takes 20 to 60 s. So
the plan knows which take longer. No order of the groups takes less than their sum over the nodes, or than the longest.
The nodes of a cluster have CPUs of their own, on which jobs start; here they share those of one machine.
"""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.resources import ROOT
from tests.slurm.slurm_cluster import SlurmCluster

GROUPS = 64
SLEEP_S = 10.0
REPEATS = (2, 6)
MOST_OVER_BOUND = 1.1
SCRIPT = "import sys, time\ntime.sleep(float(sys.argv[1]))\nprint('slept 1')\n"


def write_matrix(folder: Path, repeats: Iterable[int], sleep_s: float) -> None:
    """Write a matrix of scripts, each with its number of repeats."""
    (folder / "sleep.py").write_text(SCRIPT)
    metrics = {"slept": {"pattern": "slept (.*)", "unit": "times", "better": "higher"}}
    scripts = [
        {"name": f"s{number}", "file": "sleep.py", "arguments": [str(sleep_s)], "repeats": count, "metrics": metrics}
        for number, count in enumerate(repeats)
    ]
    (folder / "matrix.yaml").write_text(json.dumps({"version": 1, "frameworks": ["noop==1"], "scripts": scripts}))


def write_site(folder: Path, **keys: object) -> None:
    """Write a site whose nodes share a machine, and take no turns all the same."""
    setup = [
        f"export PYTHONPATH={ROOT} ORCHESTRATOR_IDLE_WAIT=0 XDG_CACHE_HOME={folder}/cache",
        f"export ORCHESTRATOR_LOCK_FOLDER={folder}/locks-$SLURMD_NODENAME",
    ]
    (folder / "site.yaml").write_text(json.dumps({"version": 1, "executor": "slurm", "setup": setup, **keys}))


def orchestrator(folder: Path, cluster: SlurmCluster, *arguments: str, before: Sequence[str] = ()) -> str:
    """Run the orchestrator to its end in a folder, by a command `before` it, and return what it printed."""
    own = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), "ORCHESTRATOR_IDLE_WAIT": "0"}
    ended = subprocess.run(
        [*before, sys.executable, "-m", "orchestrator", *arguments],
        cwd=folder, env=os.environ | dict(cluster.environment) | own, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode != 0:
        raise RuntimeError(f"{ended.stdout}\n{ended.stderr}")
    return ended.stdout


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """Return the outcomes of all repeats of the runs of a folder."""
    paths = folder.glob("results/**/outcome.json")
    return [json.loads(path.read_bytes()) for path in paths if not path.parent.name.startswith("attempt")]


def ended_at_s(outcome: dict[str, Any]) -> float:
    """Return the time at which a repeat ended, in seconds since the epoch."""
    return datetime.fromisoformat(outcome["started_at"]).timestamp() + float(outcome["wall_s"])


def row(nodes: int, groups: int = GROUPS, sleep_s: float = SLEEP_S) -> dict[str, Any]:
    """Measure the groups on so many nodes, and return the row of the page."""
    repeats = [random.Random(number).randint(*REPEATS) for number in range(groups)]
    bound_s = max(sum(repeats) * sleep_s / nodes, max(repeats) * sleep_s)
    with tempfile.TemporaryDirectory(prefix="bench-groups-") as name:
        folder, cluster = Path(name), SlurmCluster(Path(name, "slurm"), nodes)
        write_matrix(folder, repeats, sleep_s)
        write_site(folder)
        cluster.start()
        try:
            began = time.time()
            orchestrator(folder, cluster, "run", "--runtime", "host", "--detach")
            submit_s = time.time() - began
            orchestrator(folder, cluster, "run", "--resume", "latest")
        finally:
            cluster.stop()
        ends, jobs = outcomes(folder), (cluster.folder / "jobcomp.log").read_text()
    wrong = [each for each in ends if each["status"] != "ok"]
    if wrong or len(ends) != sum(repeats):
        raise RuntimeError(f"{len(ends)} of {sum(repeats)} repeats; {wrong[:3]}")
    spread_s = max(map(ended_at_s, ends)) - began - submit_s
    empty_s = _jobs_s(jobs) / groups - statistics.mean(repeats) * sleep_s
    empties_s = empty_s * groups / nodes
    shortest_s, longest_s = (count * sleep_s for count in REPEATS)
    return {
        "name": f"{groups} groups that sleep {shortest_s:g} to {longest_s:g} s on {nodes} faked nodes",
        "text": f"{spread_s:.1f} s after {submit_s:.1f} s to submit them, {spread_s / bound_s:.3f} × the least time of "
        f"any order ({bound_s:.1f} s); a job takes {empty_s:.2f} s beyond its sleep, all of them {empties_s:.1f} s on "
        "these nodes, which share the CPUs of one machine",
        "value": spread_s / bound_s,
        "wanted": f"≤ {MOST_OVER_BOUND} ×, and what jobs take that do nothing",
        "within": spread_s <= MOST_OVER_BOUND * bound_s + empties_s,
    }


def _jobs_s(finished: str) -> float:
    """Return the seconds that all jobs have had their nodes, from what the controller wrote of each."""
    found = re.findall(r"StartTime=(\S+) EndTime=(\S+) ", finished)
    return sum((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() for start, end in found)
