"""Faults of a cluster. Nothing is lost or doubled once a run was resumed, and no framework is blamed."""

import os
import signal
from pathlib import Path

import pytest
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from orchestrator.clusters.states import JobState
from tests.until import until

pytestmark = pytest.mark.slurm
RUN = ("run", "--runtime", "host")
OK = ["ok"]
BOTH = {"a": OK, "b": OK}
REFUSAL = """\
function slurm_job_submit(job, partitions, user)
    local full = io.open("{gate}")
    if full == nil then return slurm.SUCCESS end
    full:close()
    return 2050
end
function slurm_job_modify(job, record, partitions, user) return slurm.SUCCESS end
return slurm.SUCCESS
"""
"""Refuses jobs while a file is there, with the number that `ESLURM_ACCOUNTING_POLICY` has."""


def first_task(bench: BenchFolder) -> tuple[str, str]:
    """Return the part and the job of the first task that was submitted, once its script has begun."""
    until(lambda: bench.submitted().submissions and bench.submitted().submissions[0].array)
    submission = bench.submitted().submissions[0]
    return submission.parts[0], f"{submission.array}_0"


def until_known(bench: BenchFolder, part: str) -> None:
    """Wait until the submitter knows how the job of a part has ended."""
    until(lambda: part in bench.submitted().ends)


@pytest.mark.slow
def test_a_job_is_warned_before_its_time(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """It stops by itself, as after Ctrl-C, when an operator leaves it a minute: less than the time of the warning."""
    bench.scripts("a")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("a")
    part, job = first_task(bench)
    cluster.said("scontrol", "update", f"jobid={job}", "timelimit=1")
    bench.ends(program)

    end = bench.submitted().ends[part]
    assert bench.ended() == {"a": [f"not_run: the scheduler ended job {job} on {end.node}: TIMEOUT"]}
    log = (bench.the_run().folder / "logs" / f"{job}.log").read_text()
    assert "Killed" not in log
    assert "stopping" in log
    bench.open()
    bench.run("run", "--resume", "latest")
    assert bench.ended() == {"a": OK}


@pytest.mark.slow
def test_a_job_that_goes_on_is_ended(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """The scheduler ends a job whose processes do not hear the warning; that takes it up to two minutes."""
    bench.scripts("a")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("a")
    part, job = first_task(bench)
    for pid in cluster.processes("node1") + cluster.processes("node2"):
        if b"orchestrator" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGSTOP)
    cluster.said("scontrol", "update", f"jobid={job}", "timelimit=1")
    bench.ends(program)

    end = bench.submitted().ends[part]
    assert (end.job, end.state) == (job, JobState.TIMEOUT)
    bench.open()
    bench.run("run", "--resume", "latest")
    assert bench.ended() == {"a": OK}


def test_a_requeued_job_goes_on(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """Jobs ask not to be requeued, but an operator may do it all the same."""
    bench.scripts("a", "b")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("ab")
    _, job = first_task(bench)
    cluster.said("scontrol", "update", f"jobid={job}", "requeue=1")
    cluster.said("scontrol", "requeue", job)
    until(lambda: any(each.id == job and each.state == "PENDING" for each in cluster.jobs()))
    cluster.said("scontrol", "update", f"jobid={job}", "starttime=now")  # Slurm lets it wait for two minutes
    bench.open()
    bench.ends(program)

    assert bench.ended() == BOTH
    assert {end.state for end in bench.submitted().ends.values()} == {JobState.COMPLETED}
    assert len(bench.submitted().submissions) == 1


@pytest.mark.slow
def test_a_job_requeued_to_be_held_ends(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("ab")
    part, job = first_task(bench)
    cluster.said("scontrol", "update", f"jobid={job}", "requeue=1")
    cluster.said("scontrol", "requeuehold", job)
    until_known(bench, part)
    bench.open()
    bench.ends(program)

    assert bench.submitted().ends[part].state is JobState.REQUEUED
    assert OK in bench.ended().values()
    until(lambda: not cluster.live())
    bench.run("run", "--resume", "latest")
    assert bench.ended() == BOTH


@pytest.mark.slow
def test_a_lost_node_is_not_a_failure(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """Its part is measured on the other node, and anew."""
    bench.scripts("a", "b")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("ab")
    part, job = first_task(bench)
    node = next(each.node for each in cluster.live() if each.id == job)
    cluster.kill_node(node)
    until_known(bench, part)
    bench.open()
    bench.ends(program)

    lost = [f"not_run: the scheduler ended job {job} on {node}: NODE_FAIL"]
    assert sorted(bench.ended().values()) == [lost, OK]
    bench.run("run", "--resume", "latest")
    assert bench.ended() == BOTH
    other = {"node1", "node2"} - {node}
    assert {each.node for each in bench.submitted().ends.values()} == other


def test_a_controller_that_restarts_is_waited_for(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("ab")
    cluster.kill("slurmctld")
    until(lambda: "the scheduler does not answer" in bench.log())
    bench.open()
    cluster.start()
    bench.ends(program)

    assert bench.ended() == BOTH
    assert bench.begun() == {"a": 1, "b": 1}
    assert len(bench.submitted().submissions) == 1


def test_a_controller_that_is_away_gets_one_array(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b")
    cluster.end("slurmctld")
    program = bench.start(*RUN)
    until(lambda: "the scheduler takes no more for now" in bench.log())
    cluster.start()
    bench.ends(program)

    assert bench.ended() == BOTH
    assert len(bench.submitted().submissions) == 1
    assert bench.begun() == {"a": 1, "b": 1}


def test_a_limit_of_jobs_is_waited_out(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """A controller that was ended may know jobs again that had ended, so that only jobs of this run count."""
    bench.scripts("a", "b")
    gate = bench.folder / "full"
    gate.touch()
    (cluster.folder / "job_submit.lua").write_text(REFUSAL.format(gate=gate))
    with cluster.configured("JobSubmitPlugins=lua"):
        program = bench.start(*RUN)
        until(lambda: "Job violates accounting/QOS policy" in bench.log())
        assert not bench.begun()
        gate.unlink()
        bench.ends(program)

    assert bench.ended() == BOTH
    assert [len(each.parts) for each in bench.submitted().submissions] == [1, 1]


@pytest.mark.slow
def test_arrays_are_no_longer_than_allowed(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b", "c")
    with cluster.configured("MaxArraySize=2"):
        bench.run(*RUN)

    assert bench.ended() == BOTH | {"c": OK}
    assert [len(each.parts) for each in bench.submitted().submissions] == [2, 1]


@pytest.mark.slow
def test_a_full_controller_is_waited_out(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """`sbatch` itself tries for two minutes before it gives up."""
    bench.scripts("a", "b", "c", "d")
    with cluster.configured("MaxJobCount=4"):
        bench.run(*RUN)

    assert bench.ended() == BOTH | {"c": OK, "d": OK}
    assert [len(each.parts) for each in bench.submitted().submissions] == [2, 2]


@pytest.mark.slow
def test_without_accounts_the_log_tells(bench: BenchFolder, cluster: SlurmCluster) -> None:
    """The controller has lost its state, and the cluster keeps no accounts."""
    bench.scripts("a", "b")
    bench.close()
    bench.run(*RUN, "--detach")
    bench.until_begun("ab")
    part, job = first_task(bench)
    cluster.said("scancel", job)
    bench.open()
    until(lambda: not cluster.live())
    node = next(each.node for each in cluster.jobs() if each.id == job)
    cluster.forget()
    bench.run("run", "--resume", "latest", "--detach")

    end = bench.submitted().ends[part]
    assert (end.job, end.state, end.node) == (job, JobState.CANCELLED, node)
    bench.run("run", "--resume", "latest")
    assert bench.ended() == BOTH
    assert sorted(bench.begun().values()) == [1, 2]
