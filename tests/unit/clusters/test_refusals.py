"""The refusals of Slurm as kinds."""

import pytest

from orchestrator.clusters.refusals import Refusal, has_no_accounting, not_cancelled, refusal, said

POLICY = (
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size "
    "and/or time limits)"
)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("sbatch: error: QOSMaxSubmitJobPerUserLimit", Refusal.LIMIT),
        ("sbatch: error: AssocMaxSubmitJobLimit", Refusal.LIMIT),
        ("sbatch: error: AssocGrpSubmitJobsLimit", Refusal.LIMIT),
        (f"sbatch: error: QOSGrpSubmitJobsLimit\n{POLICY}", Refusal.LIMIT),
        (f"sbatch: error: QOSMaxWallDurationPerJobLimit\n{POLICY}", Refusal.NEVER),
        (f"sbatch: error: QOSMinGRES\n{POLICY}", Refusal.NEVER),
        (f"sbatch: error: AssocMaxCpuPerJobLimit\n{POLICY}", Refusal.NEVER),
        (POLICY, Refusal.LIMIT),
        ("sbatch: error: Batch job submission failed: Invalid job array specification", Refusal.LIMIT),
        ("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying", Refusal.LIMIT),
        ("sbatch: error: Batch job submission failed: Unable to contact slurm controller", Refusal.AWAY),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", Refusal.AWAY),
        ("sbatch: error: invalid partition specified: gpu", Refusal.NEVER),
        ("sbatch: error: Batch job submission failed: Invalid account or account/partition", Refusal.NEVER),
    ],
)
def test_refusals_are_waited_out_or_not(message: str, kind: Refusal) -> None:
    assert refusal(message) is kind


def test_a_cluster_without_accounts_is_known() -> None:
    assert has_no_accounting("Slurm accounting storage is disabled")
    assert not has_no_accounting("sacct: error: slurmdbd: Connection refused")


def test_the_cause_comes_before_the_last_line() -> None:
    assert said(f"sbatch: error: QOSMinGRES\n{POLICY}\n") == f"QOSMinGRES: {POLICY}"
    assert said("sbatch: error: AssocMaxSubmitJobLimit\n") == "sbatch: error: AssocMaxSubmitJobLimit"
    assert said("sbatch: warning: x\nsbatch: error: y\n") == "sbatch: error: y"


def test_only_jobs_that_live_are_not_cancelled() -> None:
    ended = "Kill job error on job id 1: Invalid job id specified\nKill job error on job id 2: Job already completed\n"

    assert not_cancelled(ended) == ""
    assert not_cancelled(f"job id 3: Access denied\n{ended}") == "job id 3: Access denied"
