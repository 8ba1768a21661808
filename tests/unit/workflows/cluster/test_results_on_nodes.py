"""Results of nodes that share no folder with the host that submits: inputs in the script, results in a file."""

import subprocess
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.site import Executor, Site
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.resources import ROOT
from orchestrator.results.store import Run
from orchestrator.workflows.cluster.run import ClusterResult, resume, run
from orchestrator.workflows.ship.returns import MergeOptions, MergeResult, merge
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import SmallCluster, waits

STEP = """\
#!/bin/sh
while case $1 in -*) true;; *) false;; esac; do shift; done
exec "$@"
"""


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n")
    fake.answers("squeue", "12|0|COMPLETED|node1|b|None\n12|1|COMPLETED|node2|b|None\n")
    (fake.folder / "srun").write_text(STEP)
    (fake.folder / "srun").chmod(0o755)
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The folder of every node, where no file of the submitting host is looked for."""
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def submitted(small: SmallCluster, scratch: Path) -> ClusterResult:
    return run(small.options(detach=True), Site(Executor.SLURM, on_nodes=str(scratch)), small.host(), waits()[1])


def ran(small: SmallCluster, cluster: ClusterRun, task: int, node: str) -> Path:
    """Run a task of the script on a node that lacks the folder of the run. Return the file that it leaves."""
    script = next((cluster.folder / "submissions").iterdir()).read_text()
    hidden = small.folder / "hidden"
    (small.folder / "results").rename(hidden)
    try:
        environment = {
            **small.host(node).environment, "PYTHONPATH": str(ROOT), "SLURM_ARRAY_JOB_ID": "12",
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_NODELIST": node, "ORCHESTRATOR_IDLE_WAIT": "0",
        }  # fmt: skip
        ended = subprocess.run(["sh"], input=script, env=environment, capture_output=True, text=True, check=False)
    finally:
        hidden.rename(small.folder / "results")
    assert ended.returncode == 0, ended.stderr
    (file,) = (small.folder / "scratch" / cluster.name).glob(f"*-{node}__12_{task}.tar.zst")
    return file


def merged(small: SmallCluster, file: Path) -> MergeResult:
    return merge(MergeOptions(file=file, results=small.folder / "results"), small.host())


def test_results_come_back_in_files(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    cluster = submitted(small, scratch).cluster
    files = [ran(small, cluster, task, f"node{task + 1}") for task in (0, 1)]
    before = resume(cluster, small.resumed(), small.host(), waits()[1])
    results = [merged(small, file) for file in files]
    after = resume(cluster, small.resumed(), small.host(), waits()[1])

    assert before.report
    assert before.report.statuses == ((Status.NOT_RUN, 2),)
    reason = before.report.cells[0].repeats[0].outcome.reason
    assert reason == f"job 12_0 has measured it: bring its file from {scratch}/{cluster.name} on node1, and merge it"
    assert any(line.startswith("the results of 2 parts lie on their nodes in ") for line in small.said)
    assert [result.cluster for result in results] == [cluster.name] * 2
    assert after.report
    assert after.report.statuses == ((Status.OK, 2),)
    assert [group.node for group in after.report.groups] == ["node1", "node2"]
    assert len(fake.calls("sbatch")) == 1  # what lies on a node is not measured again


def test_a_lost_file_is_measured_again(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """On request, by a job whose run has another name, also on the same node."""
    cluster = submitted(small, scratch).cluster
    merged(small, ran(small, cluster, 0, "node1"))
    fake.answers("sbatch", "13\n", call=2)
    fake.answers("squeue", "12|0|COMPLETED|node1|b|None\n12|1|COMPLETED|node2|b|None\n13|0|PENDING||b|None\n")
    resume(cluster, small.resumed(detach=True, retry_failed=True), small.host(), waits()[1])

    assert [each.parts for each in cluster.jobs().submissions] == [("000", "001"), ("001",)]


def test_what_came_back_unfinished_is_measured_again(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """A job that ended well may have left repeats that this node could not run."""
    cluster = submitted(small, scratch).cluster
    file = ran(small, cluster, 0, "node1")
    merged(small, file)
    outcome = next(cluster.folder.glob("parts/000/*/noop*/*/*/outcome.json"))
    outcome.write_text(outcome.read_text().replace('"status": "ok"', '"status": "no_device"'))
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    assert [each.parts for each in cluster.jobs().submissions] == [("000", "001"), ("000",)]


def test_a_file_without_its_run_is_refused(small: SmallCluster, scratch: Path) -> None:
    cluster = submitted(small, scratch).cluster
    file = ran(small, cluster, 0, "node1")

    with pytest.raises(InputError, match=f"belongs to 000 of the run {cluster.name}, which is not in .*elsewhere"):
        merge(MergeOptions(file=file, results=small.folder / "elsewhere"), small.host())
    assert not (small.folder / "elsewhere").exists()
    assert Run(next(scratch.glob("*/node1__12_0/parts/000/*"))).record().part_of == f"{cluster.name}/parts/000"


def test_large_inputs_are_submitted_in_halves(
    small: SmallCluster, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script has what all parts of its array need, and a scheduler takes no script of any size."""
    monkeypatch.setattr("orchestrator.workflows.cluster.submission.MOST_SCRIPT_BYTES", 1)

    cluster = submitted(small, scratch).cluster
    assert [each.parts for each in cluster.jobs().submissions] == [("000",), ("001",)]
