"""The questions of a submitter: one between two pauses, and asked again where nobody answers."""

from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.states import JobState
from orchestrator.workflows.cluster.questions import MOST_UNANSWERED
from orchestrator.workflows.cluster.run import resume, run
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import SLURM, SmallCluster, waits

RUNNING = "12|0|RUNNING|node1|x.sh|None\n12|1|RUNNING|node2|x.sh|None\n"


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n")
    fake.answers("squeue", RUNNING)
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


@pytest.fixture
def submitted(small: SmallCluster) -> ClusterRun:
    return run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster


def questions(fake: FakeSlurm) -> int:
    return len(fake.calls("squeue")) + len(fake.calls("sacct"))


def test_an_attached_run_waits_before_it_asks_again(
    small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun
) -> None:
    asked: list[int] = []
    waited, pause = waits(*[lambda: asked.append(questions(fake))] * 3)
    resume(submitted, small.resumed(), small.host(), pause)

    assert asked == [1, 2, 3]
    assert min(waited) >= 10.0


def test_accounts_have_a_turn_of_their_own(small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun) -> None:
    fake.answers("squeue", "\n")
    fake.answers("sacct", "12_0|COMPLETED|node1|0:0\n12_1|TIMEOUT|node2|0:0\n")
    asked: list[int] = []
    resume(submitted, small.resumed(), small.host(), waits(*[lambda: asked.append(questions(fake))] * 2)[1])

    assert (asked, questions(fake)) == ([1, 2], 3)
    assert [end.state for end in submitted.jobs().ends.values()] == [JobState.COMPLETED, JobState.TIMEOUT]


def test_accounts_that_are_away_are_asked_again(small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun) -> None:
    fake.answers("squeue", "\n")
    fake.answers("sacct", error="sacct: error: slurmdbd: Connection refused\n", call=1)
    fake.answers("sacct", "12_0|COMPLETED|node1|0:0\n12_1|TIMEOUT|node2|0:0\n", call=2)
    resume(submitted, small.resumed(), small.host(), waits(*[lambda: None] * 3)[1])

    assert [end.state for end in submitted.jobs().ends.values()] == [JobState.COMPLETED, JobState.TIMEOUT]
    assert any("does not answer (sacct: error: slurmdbd: Connection refused)" in line for line in small.said)


def test_accounts_that_stay_away_end_no_run(small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun) -> None:
    fake.answers("squeue", "\n")
    fake.answers("sacct", error="sacct: error: slurmdbd: Connection refused\n")
    resume(submitted, small.resumed(), small.host(), waits(*[lambda: None] * (MOST_UNANSWERED + 1))[1])

    assert {end.state for end in submitted.jobs().ends.values()} == {JobState.FORGOTTEN}
    assert len(fake.calls("sacct")) == MOST_UNANSWERED


def test_the_word_of_an_absent_scheduler_is_told(small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun) -> None:
    """It may be up, and refuse to talk to this host."""
    fake.answers("squeue", error="slurm_load_jobs error: Protocol authentication error\n")
    resume(submitted, small.resumed(), small.host(), waits(lambda: None)[1])

    word = "slurm_load_jobs error: Protocol authentication error"
    assert small.said.count(f"the scheduler does not answer ({word}); its jobs go on, and it is asked again") == 1


def test_a_job_that_cannot_be_cancelled_is_told(small: SmallCluster, fake: FakeSlurm, submitted: ClusterRun) -> None:
    fake.answers("squeue", "12|0|PENDING||x.sh|launch failed requeued held\n12|1|CANCELLED||x.sh|None\n")
    fake.answers("scancel", error="scancel: error: Kill job error on job id 12_0: Access/permission denied\n")
    result = resume(submitted, small.resumed(detach=True), small.host(), waits()[1])

    assert result.is_detached
    assert any("Access/permission denied; not every job is cancelled" in line for line in small.said)
