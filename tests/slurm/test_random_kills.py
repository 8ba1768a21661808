"""Runs of which something is killed at a random moment: the submitter, a job, a node or the controller."""

import contextlib
import json
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from orchestrator.clusters.folder import node_runs
from orchestrator.clusters.record import plan_of
from tests.until import until

pytestmark = pytest.mark.slurm
RUN = ("run", "--runtime", "host")
THREE = ("a", "b", "c")
REPEATS = 2
VICTIMS = ("submitter", "job", "node", "controller")
NODES = ("node1", "node2")
LONGEST_S = 1.0
"""After the begin of a script, which still waits or has ended by then."""
MOST_RESUMES = 3
RESUMED = ("run", "--resume", "latest")
UNBLAMED = {"ok", "not_run"}
"""The ends of a repeat that no script is blamed for."""


def kill(victim: str, program: "subprocess.Popen[bytes]", cluster: SlurmCluster, chance: random.Random) -> None:
    """Kill something that is there."""
    assert program.poll() is None
    if victim == "submitter":
        program.kill()
    elif victim == "controller":
        cluster.kill("slurmctld")
    elif victim == "node":
        until(lambda: any(map(cluster.processes, NODES)))
        cluster.kill_node(chance.choice([node for node in NODES if cluster.processes(node)]))
    else:
        until(lambda: _is_killed(cluster, chance))


def _is_killed(cluster: SlurmCluster, chance: random.Random) -> bool:
    """Kill a process of a job, and return true unless there is none."""
    found = [pid for node in NODES for pid in cluster.processes(node) if not _is_of_slurm(pid)]
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return False
    return True


def _is_of_slurm(pid: int) -> bool:
    """Return true for the daemon of a step. Slurm notices late if it alone is killed."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith("slurmstepd")
    except (FileNotFoundError, ProcessLookupError):
        return False


def until_ended(program: "subprocess.Popen[bytes]", cluster: SlurmCluster) -> None:
    """Wait for the end of a program, as an operator who looks after the nodes meanwhile.

    A controller that is killed just after it has started jobs starts them again, and then drains their nodes.
    """
    while program.poll() is None:
        try:
            program.wait(2.0)
        except subprocess.TimeoutExpired:
            cluster.take_back()


def measured(bench: BenchFolder) -> dict[Path, bytes]:
    """Return the bytes of every outcome that is `ok`, of every node."""
    paths = bench.folder.glob("results/*/parts/*/*/*/*/*/outcome.json")
    texts = {path: path.read_bytes() for path in paths if not path.parent.name.startswith("attempt")}
    return {path: text for path, text in texts.items() if b'"ok"' in text}


def statuses(bench: BenchFolder) -> Counter[str]:
    """Return how many repeats have ended with each status. A run that was killed before it was frozen has none."""
    if not any(bench.folder.glob("results/*/cluster.json")):
        return Counter()
    return Counter(end.partition(":")[0] for ends in bench.ended().values() for end in ends)


def check_statuses(ends: Mapping[str, int], victim: str) -> None:
    """Check that no loss was blamed on a script, unless a process of its job was killed: that may be the script."""
    blamed = {status: count for status, count in ends.items() if status not in UNBLAMED}
    assert blamed in ([{}, {"failed": 1}] if victim == "job" else [{}])


def complete_nodes(bench: BenchFolder) -> list[int]:
    """Return the number of nodes that have measured all of each part."""
    run = bench.the_run()
    plans = {part.name: plan_of(run.part(part.name)) for part in run.record().parts}
    return [
        sum(each.is_complete for each in node_runs(run.part_folder(name), plan.cells)) for name, plan in plans.items()
    ]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_nothing_is_lost_or_doubled(
    bench: BenchFolder, cluster: SlurmCluster, seed: int, record_property: Callable[[str, object], None]
) -> None:
    """The run cannot end before the kill, as one script at least may not end before it."""
    chance = random.Random(seed)
    passing = chance.randrange(REPEATS * len(THREE))
    bench.scripts(*THREE, repeats=REPEATS)
    bench.close(passing)
    program = bench.start(*RUN)
    wanted = chance.choice([passing, passing + 1])  # the next one is about to begin, or waits
    until(lambda: sum(bench.begun().values()) >= wanted)
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(chance.uniform(0, LONGEST_S))
    victim = chance.choice(VICTIMS)
    kill(victim, program, cluster, chance)
    record_property("victim", victim)
    bench.open()
    cluster.start()
    until_ended(program, cluster)
    ends = statuses(bench)
    record_property("statuses", json.dumps(ends))
    check_statuses(ends, victim)

    asked = ("--retry-failed",) if ends["failed"] else ()  # only what has failed itself is asked for again
    ok = dict.fromkeys(THREE, ["ok"] * REPEATS)
    for _ in range(MOST_RESUMES):
        before = measured(bench)
        begun = any(bench.folder.glob("results/*/cluster.json"))
        bench.run(*((*RESUMED, *asked) if begun else RUN))
        assert before.items() <= measured(bench).items()
        if bench.ended() == ok:
            break
    assert bench.ended() == ok
    assert complete_nodes(bench) == [1] * len(THREE)
    until(lambda: not cluster.live())
