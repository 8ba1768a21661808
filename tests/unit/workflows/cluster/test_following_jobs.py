"""A submitter and its jobs, on a fake of Slurm's commands."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.site import Executor, Site
from orchestrator.clusters.states import OUT_OF_TIME
from orchestrator.domain import Status
from orchestrator.errors import HostError, InputError
from orchestrator.events import RepeatFinished, RunStarted
from orchestrator.reporting.findings.model import Report
from orchestrator.workflows.cluster.cancel import CancelOptions, cancel
from orchestrator.workflows.cluster.run import ClusterResult, resume, run
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import LENET, SLURM, SmallCluster, waits

AWAY = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n"
LIMIT = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Job violates accounting/QOS policy\n"


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n")
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


def queue(*jobs: str) -> str:
    """Return an answer of `squeue`, from `index state node` of each task of array 12."""
    words = (job.split() for job in jobs)
    return "".join(f"12|{index}|{state}|{''.join(node)}|bench|None\n" for index, state, *node in words) or "\n"


def the_run(small: SmallCluster) -> ClusterRun:
    (path,) = (small.folder / "results").glob("*/cluster.json")
    return ClusterRun(path.parent)


def reasons(report: Report | None) -> dict[str, str]:
    assert report
    return {cell.cell.id: cell.repeats[0].outcome.reason for cell in report.cells}


def ended(small: SmallCluster, fake: FakeSlurm, *jobs: str) -> ClusterResult:
    """Run to the end of all jobs, of which the second look sees the last state."""
    fake.answers("squeue", queue("0 RUNNING node7", "1 PENDING"), call=1)
    fake.answers("squeue", queue(*jobs))
    _, pause = waits(lambda: small.measure(the_run(small), "000", "node1"), lambda: None)
    return run(small.options(), SLURM, small.host(), pause)


def test_a_run_is_submitted_followed_and_reported(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("squeue", queue("0 RUNNING node1", "1 RUNNING node2"), call=1)
    fake.answers("squeue", queue("0 COMPLETED node1", "1 COMPLETED node2"))

    def measured() -> None:
        small.measure(the_run(small), "000", "node1")
        small.measure(the_run(small), "001", "node2")

    waited, pause = waits(measured)
    result = run(small.options(), SLURM, small.host(), pause)

    assert result.report
    assert result.report.statuses == ((Status.OK, 2),)
    assert [group.node for group in result.report.groups] == ["node1", "node2"]
    assert waited == [10.0]
    assert small.events.count(RunStarted(planned=2, done=0)) == 1
    assert "2 parts measured on node1 and node2" in small.said


def test_outcomes_are_told_as_they_come(small: SmallCluster, fake: FakeSlurm) -> None:
    ended(small, fake, "0 COMPLETED node1", "1 COMPLETED node1")

    told = [event.outcome.cell_id for event in small.events if isinstance(event, RepeatFinished)]
    assert told == [LENET] * 2  # by the job, and by the one who follows it


@pytest.mark.parametrize("state", ["TIMEOUT", "NODE_FAIL", "PREEMPTED", "CANCELLED", "BOOT_FAIL", "OUT_OF_MEMORY"])
def test_what_the_scheduler_did_blames_no_framework(small: SmallCluster, fake: FakeSlurm, state: str) -> None:
    result = ended(small, fake, "0 COMPLETED node1", f"1 {state} node7")

    assert result.report
    assert result.report.statuses == ((Status.OK, 1), (Status.NOT_RUN, 1))
    assert list(reasons(result.report).values()) == ["", f"the scheduler ended job 12_1 on node7: {state}"]
    assert not result.failed


def test_a_job_that_failed_has_its_last_word(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("squeue", queue("0 RUNNING node7", "1 RUNNING node8"), call=1)
    fake.answers("squeue", queue("0 FAILED node7", "1 FAILED node8"))

    def logged() -> None:
        (the_run(small).folder / "logs" / "12_0.log").write_text("starting\nno container engine answers\n")

    result = run(small.options(), SLURM, small.host(), waits(logged)[1])
    assert list(reasons(result.report).values()) == [
        "job 12_0 on node7 ended without an outcome: FAILED (no container engine answers)",
        "job 12_1 on node8 ended without an outcome: FAILED",
    ]


def test_a_job_that_was_warned_is_out_of_time(small: SmallCluster, fake: FakeSlurm) -> None:
    """It has ended by itself before the scheduler ended it, which calls that a failure."""
    fake.answers("squeue", queue("0 RUNNING node7", "1 RUNNING node8"), call=1)
    fake.answers("squeue", queue("0 FAILED node7", "1 CANCELLED node8"))

    def logged() -> None:
        (the_run(small).folder / "logs" / "12_0.log").write_text(f"measuring\n{OUT_OF_TIME}\n")

    result = run(small.options(), SLURM, small.host(), waits(logged)[1])
    assert reasons(result.report)[LENET] == "the scheduler ended job 12_0 on node7: TIMEOUT"


def test_a_job_held_after_a_failed_launch_is_cancelled(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("squeue", "12|0|PENDING||b|launch failed requeued held\n12|1|CANCELLED|node1|b|None\n")
    result = run(small.options(), SLURM, small.host(), waits()[1])

    assert fake.calls("scancel") == [["12_0"]]
    assert list(reasons(result.report).values()) == [
        "the scheduler ended job 12_0: LAUNCH_FAILED", "the scheduler ended job 12_1 on node1: CANCELLED",
    ]  # fmt: skip


def test_accounts_tell_what_the_queue_forgot(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("sacct", "12_0|NODE_FAIL|node3|0:0\n")
    fake.answers("squeue", queue("0 RUNNING node3", "1 RUNNING node4"), call=1)
    fake.answers("squeue", queue())
    waited, pause = waits(*[lambda: None] * 3)
    result = run(small.options(), SLURM, small.host(), pause)

    assert (
        len(waited) == 3
    )  # what is not shown once may only be late, and the accounts are asked in a turn of their own
    assert [len(fake.calls(name)) for name in ("squeue", "sacct")] == [3, 1]
    assert list(reasons(result.report).values()) == [
        "the scheduler ended job 12_0 on node3: NODE_FAIL",
        "the scheduler no longer knows job 12_1 on node4, which left no outcome",
    ]


def test_a_log_tells_what_nobody_remembers(small: SmallCluster, fake: FakeSlurm) -> None:
    """Without accounts, the log of a job is all that is left of it."""
    fake.answers("squeue", queue())
    fake.answers("sacct", error="Slurm accounting storage is disabled\n")

    def logged() -> None:
        logs = the_run(small).folder / "logs"
        stopped = (
            "slurmstepd-node1: error: *** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 DUE TO NODE FAILURE ***"
        )
        (logs / "12_0.log").write_text(f"part 000 on node1\n{stopped}\n")
        (logs / "12_1.log").write_text("part 001 on node2\nmeasuring\n")

    result = run(small.options(), SLURM, small.host(), waits(logged, lambda: None)[1])
    assert list(reasons(result.report).values()) == [
        "the scheduler ended job 12_0 on node1: NODE_FAIL",
        "the scheduler no longer knows job 12_1 on node2, which left no outcome",
    ]


def test_one_question_at_a_time_with_back_off(small: SmallCluster, fake: FakeSlurm) -> None:
    """Nothing changes, so the looks become fewer: never more than one in ten seconds, nor less than one a minute."""
    fake.answers("squeue", queue("0 PENDING", "1 PENDING"))
    waited, pause = waits(*[lambda: None] * 7)
    result = run(small.options(), SLURM, small.host(), pause)

    assert waited == [10.0, 15.0, 22.5, 33.75, 50.625, 60.0, 60.0, 60.0]
    assert len(fake.calls("squeue")) == len(waited)
    assert result.is_detached
    assert result.report is None


def test_a_resumed_run_submits_what_is_left(small: SmallCluster, fake: FakeSlurm) -> None:
    """A part with a live job, or with every outcome, is not submitted again."""
    cluster = ended(small, fake, "0 COMPLETED node1", "1 TIMEOUT node7").cluster
    fake.answers("sbatch", "13\n", call=2)
    fake.answers("squeue", "13|0|RUNNING|node2|b|None\n" + queue("0 COMPLETED node1", "1 TIMEOUT node7"))
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])
    attached = resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    assert [each.parts for each in cluster.jobs().submissions] == [("000", "001"), ("001",)]
    assert len(fake.calls("sbatch")) == 2
    assert attached.is_detached


def test_a_limit_halves_an_array_and_is_waited_out(small: SmallCluster, fake: FakeSlurm) -> None:
    for call in (1, 3):
        fake.answers("sbatch", error=LIMIT, call=call)
    fake.answers("sbatch", "13\n", call=4)
    fake.answers("squeue", queue("0 RUNNING node1"))
    waited, pause = waits(lambda: None)
    result = run(small.options(detach=True), SLURM, small.host(), pause)

    assert [(each.parts, each.array) for each in result.cluster.jobs().submissions] == [(("000",), 12), (("001",), 13)]
    assert waited == [10.0]
    assert any("no more for now: QOSMaxSubmitJobPerUserLimit: sbatch: error: Job viol" in line for line in small.said)


def test_an_absent_controller_takes_no_array_twice(small: SmallCluster, fake: FakeSlurm) -> None:
    """The controller went away and has the array all the same, which its queue tells later."""
    fake.answers("sbatch", error=AWAY)
    fake.answers("squeue", error="Unable to contact slurm controller\n", call=1)

    def back() -> None:
        (submission,) = the_run(small).jobs().submissions
        assert submission.array is None
        fake.answers("squeue", f"40|0|RUNNING|node1|{submission.name}|None\n40|1|PENDING||{submission.name}|None\n")

    result = run(small.options(detach=True), SLURM, small.host(), waits(lambda: None, back)[1])
    assert [(each.parts, each.array) for each in result.cluster.jobs().submissions] == [(("000", "001"), 40)]
    assert len(fake.calls("sbatch")) == 1


def test_a_killed_submitter_doubles_nothing(small: SmallCluster, fake: FakeSlurm) -> None:
    """Its array was taken, but it was killed before it knew the id."""
    fake.answers("squeue", queue("0 PENDING", "1 PENDING"))
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster
    jobs = cluster.jobs()
    name = jobs.submissions[0].name
    text = (cluster.folder / "jobs.json").read_text().replace('"array": 12', '"array": null')
    (cluster.folder / "jobs.json").write_text(text)
    fake.answers("squeue", f"12|0|RUNNING|node1|{name}|None\n12|1|PENDING||{name}|None\n")

    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])
    assert cluster.jobs() == jobs
    assert len(fake.calls("sbatch")) == 1


def test_a_job_that_can_never_run_ends_the_command(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("sbatch", error="sbatch: error: invalid partition specified: gpu\n")

    with pytest.raises(HostError, match=r"(?s)sbatch refuses .*invalid partition.*go on with: orchestrator run"):
        run(small.options(), SLURM, small.host(), waits()[1])
    assert the_run(small).jobs().submissions == ()


def test_arrays_of_a_bounded_site_wait_for_each_other(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("sbatch", error=LIMIT, call=1)
    fake.answers("squeue", queue("0 PENDING"))
    run(small.options(detach=True), Site(Executor.SLURM, nodes_at_once=1), small.host(), waits()[1])

    assert [call[1:-1] for call in fake.calls("sbatch")] == [[], [], ["--dependency=afterany:12"]]


def test_a_folder_that_no_script_can_name_is_refused(small: SmallCluster) -> None:
    options = replace(small.options(), results=small.folder / 'a"b')

    with pytest.raises(InputError, match="a batch script cannot name this folder"):
        run(options, SLURM, small.host(), waits()[1])


def test_cancel_ends_live_jobs_and_the_submitter(small: SmallCluster, fake: FakeSlurm) -> None:
    """A submitter at work submits nothing more; the report says who was cancelled."""
    fake.answers("sbatch", error=LIMIT)
    fake.answers("squeue", queue())
    cancelled = []

    def asked() -> None:
        cancelled.append(cancel(CancelOptions(run="latest", results=small.folder / "results"), small.host()))

    result = run(small.options(), SLURM, small.host(), waits(asked)[1])
    assert result.report
    assert cancelled[0].jobs == ()
    assert result.report.statuses == ((Status.NOT_RUN, 2),)
    assert "cancelled: 2 arrays will not be submitted" in small.said


def test_cancel_names_the_live_jobs(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("squeue", queue("0 RUNNING node1", "1 COMPLETED node2"))
    run(small.options(detach=True), SLURM, small.host(), waits()[1])

    result = cancel(CancelOptions(run="latest", results=small.folder / "results"), small.host())
    assert result.jobs == ("12_0",)
    assert fake.calls("scancel") == [["12_0"]]
