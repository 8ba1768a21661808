"""Results of nodes that share no folder with the host that submits: inputs in the script, results in a file."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun, counted_runs, nodes_of_job, part_states
from orchestrator.clusters.site import Executor, Site
from orchestrator.domain import Status
from orchestrator.errors import InputError
from orchestrator.resources import ROOT
from orchestrator.results.store import Run
from orchestrator.workflows.cluster.run import ClusterResult, resume, run
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from orchestrator.workflows.ship.returns import MergeOptions, MergeResult, merge
from tests import exported
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


def submitted(small: SmallCluster, scratch: Path, replicate: int = 1) -> ClusterResult:
    site = Site(Executor.SLURM, on_nodes=str(scratch), replicate=replicate)
    return run(small.options(detach=True), site, small.host(), waits()[1])


def ran(small: SmallCluster, cluster: ClusterRun, task: int, node: str, restart: str = "") -> Path:
    """Run a task of the script on a node that lacks the folder of the run. Return the file that it leaves."""
    script = next((cluster.folder / "submissions").iterdir()).read_text()
    hidden = small.folder / "hidden"
    (small.folder / "results").rename(hidden)
    try:
        environment = {
            **small.host(node).environment, "PYTHONPATH": str(ROOT), "SLURM_ARRAY_JOB_ID": "12",
            "SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_NODELIST": node, "ORCHESTRATOR_IDLE_WAIT": "0",
            **({"SLURM_RESTART_COUNT": restart} if restart else {}),
        }  # fmt: skip
        ended = subprocess.run(["sh"], input=script, env=environment, capture_output=True, text=True, check=False)
    finally:
        hidden.rename(small.folder / "results")
    assert ended.returncode == 0, ended.stderr
    (file,) = (small.folder / "scratch" / cluster.name).glob(
        f"*-{node}__12_{task}{'-' * bool(restart)}{restart}.tar.zst"
    )
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


def test_forgotten_jobs_are_not_submitted_again(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """Without accounts nobody knows that they have measured; on request, they are taken for lost."""
    cluster = submitted(small, scratch).cluster
    fake.answers("squeue", "\n")
    fake.answers("sacct", error="Slurm accounting storage is disabled\n")
    result = resume(cluster, small.resumed(), small.host(), waits(*[lambda: None] * 2)[1])

    assert len(fake.calls("sbatch")) == 1
    assert result.report
    assert "no longer knows job 12_0, which may have measured it" in result.report.cells[0].repeats[0].outcome.reason
    assert any(line.startswith("the scheduler no longer knows job 12_0, which may have") for line in small.said)
    resume(cluster, small.resumed(detach=True, retry_failed=True), small.host(), waits()[1])
    assert len(fake.calls("sbatch")) == 2


def test_a_part_waits_for_every_file(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """A job of two nodes leaves two files, of which the first was merged."""
    cluster = submitted(small, scratch, replicate=2).cluster
    files = [ran(small, cluster, 0, node) for node in ("node1", "node2")]
    merged(small, files[0])
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    assert [each.nodes for each in cluster.jobs().submissions] == [2]
    merged(small, files[1])
    (one, _) = part_states(cluster, cluster.record())
    assert (sorted(one.complete), one.missing) == (["node1", "node2"], 0)


def test_a_requeued_job_leaves_a_file_for_each_start(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """The scheduler may start it on the same node again, whose folder has what the first start measured."""
    cluster = submitted(small, scratch).cluster
    files = [ran(small, cluster, 0, "node1", restart) for restart in ("", "1", "2")]
    for file in files[1:]:
        merged(small, file)
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    assert len({file.name for file in files}) == 3
    assert nodes_of_job(cluster.part_folder("000"), "12_0") == 1
    assert (nodes_of_job(cluster.part_folder("000"), "12_1"), nodes_of_job(cluster.part_folder("000"), "2_0")) == (0, 0)
    assert len(fake.calls("sbatch")) == 1


def test_a_failure_is_retried_on_any_node(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """A node by itself goes on with nothing, so its job need not wait for it."""
    cluster = submitted(small, scratch).cluster
    merged(small, ran(small, cluster, 0, "node1"))
    outcome = next(cluster.folder.glob("parts/000/*/noop*/*/*/outcome.json"))
    outcome.write_text(outcome.read_text().replace('"status": "ok"', '"status": "failed"'))
    fake.answers("sbatch", "13\n", call=2)
    resume(cluster, small.resumed(detach=True, retry_failed=True), small.host(), waits()[1])

    assert cluster.jobs().submissions[1].parts == ("000", "001")
    assert "nodelist" not in Path(fake.calls("sbatch")[1][-1]).read_text()


def test_a_warned_job_on_its_node_is_out_of_time(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """Its log lies there, and its exit status says the same."""
    fake.answers("squeue", "12|0|FAILED|node1|b|NonZeroExitCode\n12|1|FAILED|node2|b|NonZeroExitCode\n", call=1)
    fake.answers("squeue", "12  0  31744\n12  1  256\n", call=2)
    cluster = submitted(small, scratch).cluster
    waited, pause = waits(lambda: None)
    resume(cluster, small.resumed(detach=True), small.host(), pause)

    assert waited == [10.0]  # between two questions

    assert [str(end) for end in cluster.jobs().ends.values()] == [
        "the scheduler ended job 12_0 on node1: TIMEOUT",
        "job 12_1 on node2 ended without an outcome: FAILED (exit status 1)",
    ]


def test_a_node_counts_once_for_a_part(small: SmallCluster, fake: FakeSlurm, scratch: Path) -> None:
    """Two jobs have measured the part on the same node, and two nodes are to measure it."""
    cluster = submitted(small, scratch, replicate=2).cluster
    file = ran(small, cluster, 0, "node1")
    merged(small, file)
    first = next(cluster.folder.glob("parts/000/node1__12_0"))
    shutil.copytree(first, first.with_name("node1__14_0"))

    (one, _) = part_states(cluster, cluster.record())
    assert (one.complete, one.missing) == (("node1",), 1)
    assert [run.folder.name for run in counted_runs(cluster)] == ["node1__14_0"]
    report = cluster_report(cluster)
    assert report.cluster
    assert [node.name for node in report.cluster.nodes] == ["node1"]


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


def test_networks_too_large_for_a_script_are_refused(
    small: SmallCluster, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported.saved(exported.image_network(), small.folder / "ours.onnx")
    matrix = "version: 1\nframeworks: [onnxruntime==1.20.1]\nmodes: [infer]\nmodels: [{name: ours, file: ours.onnx}]\n"
    (small.folder / "matrix.yaml").write_text(matrix)
    monkeypatch.setattr("orchestrator.workflows.cluster.freeze.MOST_SCRIPT_BYTES", 100)

    with pytest.raises(InputError, match=f"the files of ours have .* MB, .* of their own .{scratch}.; put the results"):
        submitted(small, scratch)
