"""The files of a run on a cluster, and what is said of broken ones."""

from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun, cluster_runs
from orchestrator.clusters.record import JobEnd, JobsRecord, Submission
from orchestrator.clusters.states import JobState
from orchestrator.errors import InputError

JOBS = JobsRecord(
    submissions=(Submission("bench-1", ("000", "001"), 12), Submission("bench-2", ("002",))),
    ends={"000": JobEnd("12_0", JobState.TIMEOUT, "node7")},
)


def test_jobs_are_read_as_they_were_written(tmp_path: Path) -> None:
    run = ClusterRun(tmp_path)
    assert run.jobs() == JobsRecord()

    run.write_jobs(JOBS)
    assert run.jobs() == JOBS


def test_a_task_is_of_the_part_at_its_index() -> None:
    assert [JOBS.part_of(array, index) for array, index in ((12, 1), (12, 2), (13, 0))] == ["001", None, None]


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (JobEnd("12_3", JobState.TIMEOUT, "node7"), "the scheduler ended job 12_3 on node7: TIMEOUT"),
        (JobEnd("12_3", JobState.CANCELLED), "the scheduler ended job 12_3: CANCELLED"),
        (
            JobEnd("1_0", JobState.FAILED, "n", "exit status 3:0"),
            "job 1_0 on n ended without an outcome: FAILED (exit status 3:0)",
        ),
        (JobEnd("1_0", JobState.COMPLETED, "n"), "job 1_0 on n ended without an outcome: COMPLETED"),
        (JobEnd("1_0", JobState.FORGOTTEN), "the scheduler no longer knows job 1_0, which left no outcome"),
    ],
)
def test_an_end_is_a_sentence(end: JobEnd, sentence: str) -> None:
    assert str(end) == sentence


def test_a_forgotten_job_may_have_measured() -> None:
    """Each node by itself has its results, so that this host cannot know it."""
    end = JobEnd("1_0", JobState.FORGOTTEN, "node7")

    assert end.on_node("/local/run") == (
        "the scheduler no longer knows job 1_0, which may have measured it: look for its file in /local/run on node7, "
        "and merge it"
    )
    assert "in /local/run on its node, and" in JobEnd("1_0", JobState.FORGOTTEN).on_node("/local/run")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a run on a cluster: Expecting"),
        ("[]", "not a run on a cluster"),
        ('{"schema": 2}', r"schema 2 is newer than this orchestrator reads \(1\): upgrade it"),
        ('{"schema": 1}', "not a run on a cluster: run: Field required"),
    ],
)
def test_a_broken_record_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "cluster.json").write_text(text)
    (run,) = cluster_runs(tmp_path)

    with pytest.raises(InputError, match=f"run/cluster.json: {problem}"):
        run.record()


def test_a_folder_that_is_no_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"part.json: no such file, so this is not a part of a run"):
        ClusterRun(tmp_path).part("000")
