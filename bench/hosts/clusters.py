"""Runs on a Slurm cluster of this machine (`.ci/slurm`): what submitting and following them costs.

    python -m bench.hosts.clusters [--pairs 10] [--only floor queries plan kills groups] [--nodes 2 8] [--sleep 10]

A no-op cell in a job is compared with the same one on the same CPU without Slurm, from the begin of a repeat to that of
the next one. Queries are counted by a virtual clock: the code that follows a run is real, and a stand-in takes the
place of the scheduler, whose 1,000 jobs take an hour. A plan of 10,000 cells is submitted to the real scheduler, which
lets them wait. The runs that are killed are those of `tests/slurm/test_random_kills.py`. The groups that sleep are in
`bench/hosts/sleeping_groups.py`; they take half an hour.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.hosts import random_kills, sleeping_groups
from bench.hosts.sleeping_groups import orchestrator, outcomes, write_site
from bench.hosts.virtual_scheduler import questions_in_an_hour
from bench.overhead.planning import matrix_text
from orchestrator.resources import ROOT
from tests.slurm import slurm_cluster
from tests.slurm.slurm_cluster import SlurmCluster

REPEATS = 60
MOST_PER_CELL = 1.05
JOBS = 1000
LEAST_BETWEEN_S = 10.0
CELLS = 10_000
MOST_PLAN_S = 5.0
MOST_PLAN_BYTES = 200_000_000
NODES = (2, 8)
_MEASURED = """\
import sys, time
from pathlib import Path
from orchestrator.cli import main
try:
    main()
finally:
    status = Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    print("measured", peak, time.process_time(), file=sys.stderr)
"""


@contextmanager
def cluster_in(folder: Path, nodes: int = 2) -> Iterator[SlurmCluster]:
    """Have a cluster below a folder meanwhile."""
    cluster = SlurmCluster(folder / "slurm", nodes)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


def per_cell_s(folder: Path) -> float:
    """Return the median time between the begins of two repeats of a run."""
    begins = sorted(datetime.fromisoformat(each["started_at"]).timestamp() for each in outcomes(folder))
    if len(begins) != REPEATS:
        raise RuntimeError(f"{len(begins)} of {REPEATS} repeats")
    return statistics.median(after - before for before, after in pairwise(begins))


def floor(pairs: int) -> dict[str, Any]:
    """Return the row of no-op cells in a job and outside of one."""
    from bench.pairs import compare, interleave

    with tempfile.TemporaryDirectory(prefix="bench-clusters-") as name, cluster_in(Path(name)) as cluster:

        def run(site: str, *before: str) -> float:
            folder = Path(tempfile.mkdtemp(dir=name))
            steps = {"steps": 10, "repeats": REPEATS, "parity": False}
            matrix = {"version": 1, "frameworks": ["noop==1"], "models": ["mlp"], **steps}
            (folder / "matrix.yaml").write_text(json.dumps(matrix))
            write_site(folder, sbatch={"nodelist": "node1"})
            orchestrator(folder, cluster, "run", "--runtime", "host", "--site", site, before=before)
            return per_cell_s(folder)

        values = interleave(lambda: run("site.yaml"), lambda: run("none", "taskset", "--cpu-list", "0"), pairs)
    ratio = compare(
        "no-op cell of a run on Slurm", "in one job", "on the same CPU without Slurm", values,
        bar=(0.0, MOST_PER_CELL), unit="s",
    )  # fmt: skip
    return asdict(ratio) | {"within": ratio.within}


def queries() -> dict[str, Any]:
    """Return the row of the questions to the scheduler."""
    asked_at_s = questions_in_an_hour(JOBS)
    least_s = min(after - before for before, after in pairwise(asked_at_s))
    return {
        "name": f"questions to the scheduler for {JOBS:,} jobs over an hour",
        "text": f"{len(asked_at_s)} in {asked_at_s[-1]:.0f} s of a virtual clock, never two within {least_s:.3g} s, "
        "each for all jobs",
        "value": least_s,
        "wanted": f"≤ 1 in {LEAST_BETWEEN_S:g} s",
        "within": least_s >= LEAST_BETWEEN_S,
    }


def plan(times: int) -> dict[str, Any]:
    """Return the row of a large plan, from the start of the command to its end."""
    taken, submitted = [], []
    with tempfile.TemporaryDirectory(prefix="bench-clusters-") as name, cluster_in(Path(name)) as cluster:
        folder = Path(name)
        (folder / "matrix.yaml").write_text(matrix_text(CELLS).replace("cpu: {cpus: 2}", "cpu: {}"))
        write_site(folder, sbatch={"begin": "now+1hour"})
        for _ in range(times):
            began = time.perf_counter()
            submitted.append(_submitted(folder, cluster))
            taken.append(time.perf_counter() - began)
            orchestrator(folder, cluster, "cancel", "latest")
        (run, *_) = sorted(folder.glob("results/*/jobs.json"))
        submissions = json.loads(run.read_bytes())["submissions"]
        cells = len(json.loads(run.with_name("cluster.json").read_bytes())["plan"]["cells"])
    jobs = sum(len(each["parts"]) for each in submissions)
    middle_s, peak = statistics.median(taken), max(peak for peak, _ in submitted)
    on_cpu_s = statistics.median(on_cpu_s for _, on_cpu_s in submitted)
    return {
        "name": f"plan of {CELLS:,} cells to submitted arrays",
        "text": f"{middle_s:.2f} s in the median of {times} ({min(taken):.2f} to {max(taken):.2f} s), {on_cpu_s:.2f} s "
        f"of it on the CPU, with the start of Python, for {cells:,} cells in {jobs:,} jobs of {len(submissions)} "
        f"arrays; {peak / 1e6:.0f} MB",
        "value": middle_s,
        "wanted": f"≤ {MOST_PLAN_S:g} s, ≤ {MOST_PLAN_BYTES / 1e6:g} MB",
        "within": middle_s <= MOST_PLAN_S and peak <= MOST_PLAN_BYTES,
    }


def _submitted(folder: Path, cluster: SlurmCluster) -> tuple[int, float]:
    """Submit a run, and return the peak memory of the command in bytes, and its seconds on the CPU."""
    # An installed program has its modules compiled, and so has a checkout from its first command on.
    own = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": ""}
    ended = subprocess.run(
        [sys.executable, "-c", _MEASURED, "run", "--runtime", "host", "--detach"],
        cwd=folder, env=os.environ | dict(cluster.environment) | own, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr)
    kilobytes, on_cpu_s = ended.stderr.rpartition("measured ")[2].split()
    return int(kilobytes) * 1024, float(on_cpu_s)


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure what was chosen, and yield the rows of the page."""
    if "floor" in options.only:
        yield floor(options.pairs)
    if "queries" in options.only:
        yield queries()
    if "plan" in options.only:
        yield plan(max(3, options.pairs // 2))
    if "kills" in options.only:
        yield random_kills.row()
    if "groups" in options.only:
        for nodes in options.nodes:
            yield sleeping_groups.row(nodes, sleep_s=options.sleep)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hosts.clusters", description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    names = ("floor", "queries", "plan", "kills", "groups")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES, help="of the clusters for the groups that sleep")
    parser.add_argument(
        "--sleep", type=float, default=sleeping_groups.SLEEP_S, help="seconds of one of their repeats, about"
    )
    options = parser.parse_args()
    if reason := slurm_cluster.missing():
        raise SystemExit(reason)
    print(json.dumps(list(rows(options))))


if __name__ == "__main__":
    main()
