"""Runs on a real cluster of two nodes that goes well."""

import signal

import pytest
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from orchestrator.clusters.record import JobEnd
from orchestrator.clusters.states import JobState
from tests.until import until

pytestmark = pytest.mark.slurm
RUN = ("run", "--runtime", "host")
THREE = ("a", "b", "c")
OK = ["ok"]


def all_ok(*names: str) -> dict[str, list[str]]:
    return dict.fromkeys(names, OK)


def test_groups_are_an_array_on_both_nodes(bench: BenchFolder) -> None:
    """No script ends before two have begun, so that two nodes have measured at once."""
    bench.scripts(*THREE, together=2)
    said = bench.run(*RUN)

    assert bench.ended() == all_ok(*THREE)
    (submission,) = bench.submitted().submissions
    assert sorted(submission.parts) == ["000", "001", "002"]
    assert {end.state for end in bench.submitted().ends.values()} == {JobState.COMPLETED}
    cluster = bench.report().cluster
    assert cluster
    assert {part.node for part in cluster.parts} == {"node1", "node2"}
    assert f"submitted: job {submission.array}" in said
    assert bench.begun() == dict.fromkeys(THREE, 1)


@pytest.mark.slow
def test_nodes_at_once_are_bounded(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.site(nodes_at_once=1)
    bench.scripts(*THREE)
    bench.close()
    program = bench.start(*RUN)
    until(lambda: [job.state for job in cluster.live()].count("RUNNING") == 1 and len(bench.begun()) == 1)

    assert [job.state for job in cluster.live()].count("PENDING") == 2
    bench.open()
    bench.ends(program)
    assert bench.ended() == all_ok(*THREE)


@pytest.mark.slow
def test_each_part_is_measured_on_two_nodes(bench: BenchFolder) -> None:
    bench.scripts("a", "b")
    bench.run(*RUN, "--replicate", "2")

    report = bench.report()
    assert report.cluster
    assert bench.begun() == {"a": 2, "b": 2}
    assert [node.name for node in report.cluster.nodes] == ["node1", "node2"]
    assert len(report.replicates) == 1


def test_a_killed_submitter_is_attached_again(bench: BenchFolder) -> None:
    bench.scripts(*THREE)
    bench.close()
    program = bench.start(*RUN)
    until(lambda: len(bench.begun()) == 2)
    program.send_signal(signal.SIGKILL)
    program.wait()
    before = bench.submitted().submissions
    bench.open()
    bench.run("run", "--resume", "latest")

    assert bench.ended() == all_ok(*THREE)
    assert bench.submitted().submissions == before
    assert bench.begun() == dict.fromkeys(THREE, 1)


def test_an_interrupt_detaches_and_cancel_cancels(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts(*THREE)
    bench.close()
    program = bench.start(*RUN)
    until(lambda: len(bench.begun()) == 2)
    program.send_signal(signal.SIGINT)
    bench.ends(program, 130)
    assert "detached from" in bench.log()
    assert len(cluster.live()) == 3

    assert "cancelled 3 jobs" in bench.run("cancel", "latest")
    until(lambda: not cluster.live())
    bench.open()
    bench.run("run", "--resume", "latest")
    assert bench.ended() == all_ok(*THREE)
    first, *later = bench.submitted().submissions
    assert sorted(part for each in later for part in each.parts) == sorted(first.parts)
    assert len(list(bench.the_run().folder.glob("parts/*/node?"))) == len(THREE)  # two go on at their nodes


@pytest.mark.slow
def test_a_detached_run_is_left_alone(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b")
    bench.close()
    name = bench.run(*RUN, "--detach").splitlines()[0]
    bench.run("run", "--resume", name, "--detach")

    assert len(cluster.live()) == 2
    assert len(bench.submitted().submissions) == 1
    bench.open()
    bench.run("run", "--resume", name)
    assert bench.ended() == all_ok("a", "b")


def test_nothing_of_the_submitting_host_leaks(
    bench: BenchFolder, cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its variables nor its working folder; what jobs need is said by `setup`."""
    monkeypatch.setenv("BENCH_LEAK", "leaked")
    monkeypatch.setenv("SBATCH_COMMENT", "leaked")
    bench.site(setup=[f"env > {bench.folder}/seen", f"scontrol show job $SLURM_JOB_ID > {bench.folder}/job"])
    bench.scripts("a")
    bench.run(*RUN)

    assert bench.ended() == all_ok("a")
    names = {line.partition("=")[0] for line in (bench.folder / "seen").read_text().splitlines()}
    assert {"PYTHONPATH", "SLURM_JOB_ID"} <= names
    assert not {"BENCH_LEAK", "SBATCH_COMMENT", "COLUMNS", "VIRTUAL_ENV"} & names
    assert "leaked" not in (bench.folder / "job").read_text()


def test_two_runs_share_the_nodes(bench: BenchFolder) -> None:
    """Each has all its parts and none of the other's, though their submitters ask at the same time."""
    bench.scripts(*THREE, together=2)
    programs = [bench.start(*RUN, "--results", name) for name in ("results", "others")]
    for program in programs:
        bench.ends(program)

    assert bench.ended() == all_ok(*THREE)
    (path,) = bench.folder.glob("others/*/jobs.json")
    assert path.parent.name != bench.the_run().name
    assert bench.begun() == dict.fromkeys(THREE, 2)
    assert "3 ok" in bench.run("runs", "--results", "others")


def test_what_was_cancelled_by_hand_is_measured(bench: BenchFolder, cluster: SlurmCluster) -> None:
    bench.scripts("a", "b")
    bench.close()
    program = bench.start(*RUN)
    bench.until_begun("ab")
    task = bench.submitted().submissions[0]
    cancelled = f"{task.array}_0"
    cluster.said("scancel", cancelled)
    until(lambda: task.parts[0] in bench.submitted().ends)
    bench.open()
    bench.ends(program)

    end = bench.submitted().ends[task.parts[0]]
    assert end == JobEnd(cancelled, JobState.CANCELLED, end.node)
    left = [ended for ended in bench.ended().values() if ended != OK]
    assert left == [[f"not_run: the scheduler ended job {cancelled} on {end.node}: CANCELLED"]]
    bench.run("run", "--resume", "latest")
    assert bench.ended() == all_ok("a", "b")
    assert sorted(bench.begun().values()) == [1, 2]
