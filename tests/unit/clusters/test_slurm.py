"""The commands of Slurm, as a fake of them sees the calls."""

from pathlib import Path

import pytest

from orchestrator.clusters.slurm import Slurm, SubmitError
from orchestrator.clusters.states import JobState, Refusal, SeenJob
from orchestrator.errors import HostError
from tests.unit.clusters.fake_slurm import FakeSlurm

LIMIT = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates\n"


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
    assert slurm.submit(tmp_path / "b.sh", after=12) == 12
    assert fake.calls("sbatch") == [
        ["--parsable", f"{tmp_path}/a.sh"],
        ["--parsable", "--dependency=afterany:12", f"{tmp_path}/b.sh"],
    ]


def test_no_variable_of_another_job_leaks(fake: FakeSlurm, slurm: Slurm, tmp_path: Path) -> None:
    fake.answers("sbatch", "12\n")
    slurm.submit(tmp_path / "a.sh")

    variables = fake.variables("sbatch")
    assert {name for name in variables if name.startswith(("SLURM", "SBATCH", "SQUEUE"))} == {"SLURM_CONF"}


def test_a_refusal_has_its_kind(fake: FakeSlurm, slurm: Slurm, tmp_path: Path) -> None:
    fake.answers("sbatch", error=LIMIT)

    with pytest.raises(SubmitError, match="Job violates") as refused:
        slurm.submit(tmp_path / "a.sh")
    assert refused.value.kind is Refusal.LIMIT


def test_one_query_asks_for_all_jobs(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("squeue", "12|0|RUNNING|node1|one|None\n13|4|TIMEOUT|node2|two|TimeLimit\n")

    assert slurm.queue(["one", "two"]) == (
        SeenJob(12, 0, JobState.RUNNING, "node1", "one"),
        SeenJob(13, 4, JobState.TIMEOUT, "node2", "two", "TimeLimit"),
    )
    assert len(fake.calls("squeue")) == 1


def test_an_absent_controller_gives_no_queue(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("squeue", error="slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")

    assert slurm.queue(["one"]) is None


def test_a_cluster_without_accounts_is_asked_once(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("sacct", error="Slurm accounting storage is disabled\n")

    assert (slurm.history([12]), slurm.history([12])) == ((), ())
    assert len(fake.calls("sacct")) == 1


def test_accounts_know_what_the_controller_forgot(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("sacct", "12_3|TIMEOUT|node7|0:0\n12_3.batch|CANCELLED|node7|0:15\n")

    assert slurm.history([12]) == (SeenJob(12, 3, JobState.TIMEOUT, "node7"),)


def test_jobs_that_have_ended_are_no_error(fake: FakeSlurm, slurm: Slurm) -> None:
    fake.answers("scancel", error="scancel: error: Kill job error on job id 12_3: Invalid job id specified\n")

    slurm.cancel(["12_3", "13"])
    slurm.cancel([])
    assert fake.calls("scancel") == [["12_3", "13"]]


def test_a_host_without_slurm_says_so(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="sbatch: there is no such program; a site with `executor: slurm` needs"):
        Slurm({"PATH": str(tmp_path)}, tmp_path).submit(tmp_path / "a.sh")
