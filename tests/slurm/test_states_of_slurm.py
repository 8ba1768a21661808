"""States that a scheduler brings about by itself: a prolog that fails, and a job of more weight."""

import pytest
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from orchestrator.clusters.states import JobState
from tests.until import until

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
RUN = ("run", "--runtime", "host")
OK = ["ok"]
PREEMPTION = (
    "PreemptType=preempt/partition_prio",
    "PreemptMode=CANCEL",
    "PartitionName=low Nodes=ALL OverSubscribe=NO PriorityTier=1 PreemptMode=CANCEL GraceTime=0 State=UP",
    "PartitionName=high Nodes=ALL OverSubscribe=NO PriorityTier=9 PreemptMode=OFF State=UP",
)


@pytest.mark.parametrize("prolog", ["Prolog", "PrologSlurmctld"])
def test_a_prolog_that_fails_blames_nobody(bench: BenchFolder, cluster: SlurmCluster, prolog: str) -> None:
    """On the node, which the scheduler then drains, or on the controller. Slurm 22 only says that it was CANCELLED."""
    bench.scripts("a")
    with cluster.configured(f"{prolog}=/bin/false"):
        bench.run(*RUN)
        ((reason,),) = bench.ended().values()
    (end,) = bench.submitted().ends.values()

    assert end.state in {JobState.LAUNCH_FAILED, JobState.CANCELLED}
    assert reason == f"not_run: the scheduler ended job {end.job} on {end.node}: {end.state}"
    assert end.node in {"node1", "node2"}
    assert not bench.begun()
    cluster.take_back()
    bench.run("run", "--resume", "latest")
    assert bench.ended() == {"a": OK}


def test_a_preempted_job_goes_on_later(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """On the node that it had, once that is free again."""
    bench.scripts("a", "b")
    bench.site(partition="low")
    bench.close()
    with cluster.configured(*PREEMPTION):
        program = bench.start(*RUN)
        bench.until_begun("ab")
        other = cluster.said(
            "sbatch", "--parsable", "--partition=high", "--nodes=1", "--exclusive", "--output=/dev/null",
            "--wrap=sleep 1000",
        ).strip()  # fmt: skip
        until(lambda: bench.submitted().ends)
        ((part, end),) = bench.submitted().ends.items()
        bench.open()
        bench.ends(program)
        left = [ended for ended in bench.ended().values() if ended != OK]
        assert left == [[f"not_run: the scheduler ended job {end.job} on {end.node}: PREEMPTED"]]
        cluster.said("scancel", other)
        bench.run("run", "--resume", "latest")

    assert bench.ended() == {"a": OK, "b": OK}
    assert end.state is JobState.PREEMPTED
    assert [path.name for path in bench.the_run().part_folder(part).glob("node*")] == [end.node]
