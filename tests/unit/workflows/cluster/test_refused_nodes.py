"""Arrays that a fake scheduler refuses for the nodes that they name."""

from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.site import Executor, Site
from orchestrator.errors import HostError
from orchestrator.workflows.cluster.run import resume, run
from orchestrator.workflows.fleet.check import check
from orchestrator.workflows.fleet.options import FleetOptions
from orchestrator.workflows.option_values import RuntimeName
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import MLP, SLURM, SmallCluster, waits

NO_NODE = "sbatch: error: Batch job submission failed: Invalid node name specified\n"
UNFIT = "sbatch: error: Batch job submission failed: Requested node configuration is not available\n"
ENDED = "12|0|COMPLETED|node1|b|None\n12|1|COMPLETED|node1|b|None\n"


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n")
    fake.answers("squeue", ENDED)
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


def measured(small: SmallCluster, site: Site) -> ClusterRun:
    """Submit a run whose parts node1 then measures."""
    cluster = run(small.options(detach=True), site, small.host(), waits()[1]).cluster
    for part in ("000", "001"):
        small.measure(cluster, part, "node1")
    return cluster


def fails(cluster: ClusterRun, part: str) -> None:
    """Let a repeat of a part have failed."""
    outcome = next(cluster.folder.glob(f"parts/{part}/*/noop*/*/*/outcome.json"))
    outcome.write_text(outcome.read_text().replace('"status": "ok"', '"status": "failed"'))


def scripts(fake: FakeSlurm) -> list[str]:
    return [Path(call[-1]).read_text() for call in fake.calls("sbatch")]


def test_a_node_that_is_gone_is_given_up(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = measured(small, SLURM)
    fails(cluster, "001")
    fake.answers("sbatch", error=NO_NODE, call=2)
    fake.answers("sbatch", "14\n", call=3)
    fake.answers("sinfo", "node2|idle\n")
    resume(cluster, small.resumed(detach=True, retry_failed=True), small.host(), waits()[1])

    assert [(each.parts, each.array) for each in cluster.jobs().submissions[1:]] == [(("001",), 14)]
    _, pinned, free = scripts(fake)
    assert "#SBATCH --nodelist=node1\n" in pinned
    assert "nodelist" not in free
    assert any("submitted again without node1, which `sinfo` does not list" in line for line in small.said)


def test_a_node_that_is_gone_is_not_excluded(small: SmallCluster, fake: FakeSlurm) -> None:
    """It has measured the part, and another node has to."""
    cluster = measured(small, Site(Executor.SLURM, replicate=2))
    fake.answers("sbatch", error=NO_NODE, call=2)
    fake.answers("sbatch", "14\n", call=3)
    fake.answers("sinfo", "node2|idle\n")
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])

    _, refused, taken = scripts(fake)
    assert "#SBATCH --exclude=node1\n" in refused
    assert "exclude=" not in taken


def test_a_refusal_for_another_reason_ends_all(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = measured(small, SLURM)
    fails(cluster, "001")
    fake.answers("sbatch", error=UNFIT, call=2)
    fake.answers("sinfo", "node1|idle\n")

    with pytest.raises(HostError, match=r"sbatch refuses .*Requested node configuration is not available"):
        resume(cluster, small.resumed(detach=True, retry_failed=True), small.host(), waits()[1])


def fleet(small: SmallCluster) -> FleetOptions:
    return FleetOptions(
        results=small.folder / "results", runtime=RuntimeName.HOST, idle_wait_s=0, file=small.folder / "matrix.yaml",
        rounds=3, detach=True, select=[MLP], nodes=["node[1-3]"],
    )  # fmt: skip


def test_an_unfit_node_leaves_a_fleet(small: SmallCluster, fake: FakeSlurm) -> None:
    """All rounds of that node are left out, and those of the others are submitted."""
    fake.answers("sinfo", "node1|idle\nnode2|idle\nnode3|idle\n")
    fake.answers("sbatch", error=UNFIT, call=2)
    for call in range(3, 12):
        fake.answers("sbatch", f"{call}\n", call=call)
    cluster = check(fleet(small), small.host(), waits()[1]).run.cluster

    parts = cluster.record().parts
    assert len(cluster.jobs().submissions) == 6
    named = {part for each in cluster.jobs().submissions for part in each.parts}
    assert named == {part.name for part in parts if part.node != parts[1].node}
    assert sum(line.startswith(f"{parts[1].node} is left out: sbatch refuses") for line in small.said) == 1


def test_a_fleet_of_unfit_nodes_is_refused(small: SmallCluster, fake: FakeSlurm) -> None:
    fake.answers("sinfo", "node1|idle\nnode2|idle\nnode3|idle\n")
    for call in range(1, 4):
        fake.answers("sbatch", error=UNFIT, call=call)

    with pytest.raises(HostError, match=r"sbatch refuses .*Requested node configuration is not available"):
        check(fleet(small), small.host(), waits()[1])
    assert len(fake.calls("sbatch")) == 3
