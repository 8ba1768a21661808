"""The commands of Slurm, as a fake of them sees the calls."""

from pathlib import Path

import pytest

from orchestrator.clusters.refusals import Refusal
from orchestrator.clusters.slurm import NoAnswerError, Slurm, SubmitError
from orchestrator.clusters.states import JobState, SeenJob
from orchestrator.errors import HostError
from tests.unit.clusters.fake_slurm import FakeSlurm

FAILED = "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy\n"
LIMIT = f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{FAILED}"
NEVER = f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{FAILED}"


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    return FakeSlurm(tmp_path)


@pytest.fixture
def slurm(fake: FakeSlurm, tmp_path: Path) -> Slurm:
    leaks = {"SLURM_JOB_ID": "1", "SBATCH_PARTITION": "x", "SQUEUE_FORMAT": "%i", "SLURM_CONF": "/etc/slurm.conf"}
    return Slurm({**fake.environment, **leaks}, tmp_path)


def test_a_submitted_array_has_its_id(fake: FakeSlurm, slurm: Slurm, tmp_path: Path) -> None:
    fake.answers("sbatch", "12;cluster\n")

    assert slurm.submit(tmp_path / "a.sh") == 12
    assert slurm.submit(tmp_path / "b.sh", after=(10, 11)) == 12
    assert fake.calls("sbatch") == [
        ["--parsable", f"{tmp_path}/a.sh"],
        ["--parsable", "--dependency=afterany:10:11", f"{tmp_path}/b.sh"],
    ]


def test_no_variable_of_another_job_leaks(fake: FakeSlurm, slurm: Slurm, tmp_path: Path) -> None:
    fake.answers("sbatch", "12\n")
    slurm.submit(tmp_path / "a.sh")

    variables = fake.variables("sbatch")
    assert {name for name in variables if name.startswith(("SLURM", "SBATCH", "SQUEUE"))} == {"SLURM_CONF"}


@pytest.mark.parametrize(("error", "kind"), [(LIMIT, Refusal.LIMIT), (NEVER, Refusal.NEVER)])
def test_a_refusal_has_its_kind_and_cause(
    fake: FakeSlurm, slurm: Slurm, tmp_path: Path, error: str, kind: Refusal
) -> None:
    fake.answers("sbatch", error=error)

    with pytest.raises(
        SubmitError, match=r"QOSMax\w+Limit: sbatch: error: Batch job submission failed: Job viol"
    ) as refused:
        slurm.submit(tmp_path / "a.sh")
    assert refused.value.kind is kind


@pytest.mark.parametrize("end", ["kill -9 $$", "exit 1", "echo submitted"])
def test_an_end_that_says_nothing_may_have_submitted(fake: FakeSlurm, slurm: Slurm, tmp_path: Path, end: str) -> None:
    """A killed command, one without a word, and one whose answer is no id."""
    (fake.folder / "sbatch").write_text(f"#!/bin/sh\n{end}\n")

    with pytest.raises(SubmitError) as refused:
        slurm.submit(tmp_path / "a.sh")
    assert refused.value.kind is Refusal.AWAY


def test_one_query_asks_for_all_jobs(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("squeue", "12|0|RUNNING|node1|/a run/one.sh|None\n13|4|TIMEOUT|node2|/a run/two.sh|TimeLimit\n")

    assert slurm.queue(["one", "two"]) == (
        SeenJob(12, 0, JobState.RUNNING, "node1", "one"),
        SeenJob(13, 4, JobState.TIMEOUT, "node2", "two", "TimeLimit"),
    )
    assert len(fake.calls("squeue")) == 1


@pytest.mark.parametrize("line", ["slurm_load_jobs error: Unable to contact slurm controller", "Protocol error"])
def test_a_queue_without_an_answer_has_a_word(fake: FakeSlurm, slurm: Slurm, line: str) -> None:
    fake.answers("squeue", error=f"squeue: trying\n{line}\n")

    with pytest.raises(NoAnswerError, match=f"^{line}$"):
        slurm.queue(["one"])


def test_a_cluster_without_accounts_is_asked_once(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("sacct", error="Slurm accounting storage is disabled\n")

    assert (slurm.history([12]), slurm.history([12]), slurm.keeps_accounts) == ((), (), False)
    assert len(fake.calls("sacct")) == 1


def test_accounts_that_are_away_are_no_empty_ones(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("sacct", error="sacct: error: Problem talking to the database: Connection refused\n")

    with pytest.raises(NoAnswerError, match="Problem talking to the database"):
        slurm.history([12])
    assert slurm.keeps_accounts


def test_accounts_know_what_the_controller_forgot(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("sacct", "12_3|TIMEOUT|node7|0:0\n12_3.batch|CANCELLED|node7|0:15\n")

    assert slurm.history([12]) == (SeenJob(12, 3, JobState.TIMEOUT, "node7"),)


ENDED = "scancel: error: Kill job error on job id 12_3: Invalid job id specified\n"
COMPLETED = "scancel: error: Kill job error on job id 13: Job/step already completing or completed\n"


def test_jobs_that_have_ended_are_no_error(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("scancel", error=f"{ENDED}{COMPLETED}")

    slurm.cancel(["12_3", "13"])
    slurm.cancel([])
    assert fake.calls("scancel") == [["12_3", "13"]]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            "scancel: error: Kill job error on job id 14: Access/permission denied\n",
            "14: Access/permission denied; not",
        ),
        ("scancel: error: Unable to contact slurm controller\n", "controller; try again when the controller answers"),
    ],
)
def test_a_job_that_is_not_cancelled_is_an_error(fake: FakeSlurm, slurm: Slurm, error: str, message: str) -> None:
    fake.answers("scancel", error=f"{error}{ENDED}")

    with pytest.raises(HostError, match=message):
        slurm.cancel(["12_3", "14"])


def test_a_host_without_slurm_says_so(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="sbatch: there is no such program; a site with `executor: slurm` needs"):
        Slurm({"PATH": str(tmp_path)}, tmp_path).submit(tmp_path / "a.sh")
