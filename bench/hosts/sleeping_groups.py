"""Groups of cells that sleep, as a run on the faked nodes of a Slurm cluster of this machine, in real time.

Each of 64 scripts is a group. It sleeps about ten seconds in each of two to six repeats, so that a group takes about 20
to 60 s. The plan knows the number of repeats, and so which groups take longer. No order of the groups takes less than
their sum over the nodes, or than the longest. The nodes of a cluster have CPUs of their own, on which jobs start; here
they share those of one machine. So that they do not all start at once, each script sleeps a little longer or shorter
than another.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from orchestrator.resources import ROOT
from tests.slurm.slurm_cluster import SlurmCluster

GROUPS = 64
SLEEP_S = 10.0
REPEATS = (2, 6)
UNEVEN = 0.05
"""Share by which the sleep of a script is longer or shorter, at most."""
MOST_OVER_BOUND = 1.1
SCRIPT = "import sys, time\ntime.sleep(float(sys.argv[1]))\nprint('slept 1')\n"


@dataclass(frozen=True, slots=True)
class Group:
    """A script that sleeps so many seconds in each of its repeats."""

    repeats: int
    sleep_s: float

    @property
    def all_s(self) -> float:
        """Return the seconds of all its repeats."""
        return self.repeats * self.sleep_s


def drawn(number: int, sleep_s: float) -> Group:
    """Return the group of this number, whose repeats sleep about so many seconds."""
    draw = random.Random(number)
    return Group(draw.randint(*REPEATS), round(sleep_s * draw.uniform(1 - UNEVEN, 1 + UNEVEN), 3))


def write_matrix(folder: Path, groups: Iterable[Group]) -> None:
    """Write a matrix of scripts, each with its number of repeats."""
    (folder / "sleep.py").write_text(SCRIPT)
    metrics = {"slept": {"pattern": "slept (.*)", "unit": "times", "better": "higher"}}
    scripts = [
        {
            "name": f"s{number}",
            "file": "sleep.py",
            "arguments": [str(group.sleep_s)],
            "repeats": group.repeats,
            "metrics": metrics,
        }
        for number, group in enumerate(groups)
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


def row(nodes: int, number: int = GROUPS, sleep_s: float = SLEEP_S) -> dict[str, Any]:
    """Measure so many groups on so many nodes, and return the row of the page."""
    groups = [drawn(each, sleep_s) for each in range(number)]
    slept_s = sum(group.all_s for group in groups)
    bound_s = max(slept_s / nodes, *(group.all_s for group in groups))
    with tempfile.TemporaryDirectory(prefix="bench-groups-") as name:
        folder, cluster = Path(name), SlurmCluster(Path(name, "slurm"), nodes)
        write_matrix(folder, groups)
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
    if wrong or len(ends) != sum(group.repeats for group in groups):
        raise RuntimeError(f"{len(ends)} repeats; {wrong[:3]}")
    spread_s = max(map(ended_at_s, ends)) - began - submit_s
    empties_s = (_jobs_s(jobs) - slept_s) / nodes
    empty_s = empties_s * nodes / number
    shortest_s, longest_s = (count * sleep_s for count in REPEATS)
    return {
        "name": f"{number} groups that sleep about {shortest_s:g} to {longest_s:g} s on {nodes} faked nodes",
        "text": f"{spread_s:.1f} s after {submit_s:.1f} s to submit them, {spread_s / bound_s:.3f} × the least time of "
        f"any order ({bound_s:.1f} s); a job takes {empty_s:.2f} s beyond its sleep, all of them {empties_s:.1f} s on "
        "these nodes, which share the CPUs of one machine",
        "value": spread_s / bound_s,
        "wanted": f"≤ {MOST_OVER_BOUND} ×",
        "within": spread_s <= MOST_OVER_BOUND * bound_s,
    }


def _jobs_s(finished: str) -> float:
    """Return the seconds that all jobs have had their nodes, from what the controller wrote of each."""
    found = re.findall(r"StartTime=(\S+) EndTime=(\S+) ", finished)
    return sum((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() for start, end in found)
