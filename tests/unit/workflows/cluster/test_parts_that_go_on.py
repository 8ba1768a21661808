"""Parts that were cut off go on at the node that has begun them, as far as it takes jobs."""

from pathlib import Path

import pytest

from orchestrator.clusters.folder import ClusterRun
from orchestrator.workflows.cluster.part import PartOptions, measure_part
from orchestrator.workflows.cluster.run import resume, run
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import SLURM, SmallCluster, waits


@pytest.fixture
def fake(tmp_path: Path) -> FakeSlurm:
    fake = FakeSlurm(tmp_path)
    fake.answers("sbatch", "12\n", call=1)
    fake.answers("sbatch", "13\n")
    fake.answers("squeue", "12|0|RUNNING|node1|x.sh|None\n12|1|RUNNING|node2|x.sh|None\n")
    fake.answers("sinfo", "node1|mixed\nnode2|idle\n")
    return fake


@pytest.fixture
def small(tmp_path: Path, fake: FakeSlurm) -> SmallCluster:
    return SmallCluster(tmp_path, fake.environment)


@pytest.fixture
def begun(small: SmallCluster) -> ClusterRun:
    """A run of which node1 has begun both parts."""
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster
    for part in ("000", "001"):
        stopped = small.host("node1")
        stopped.stop.set()
        measure_part(PartOptions(part=cluster.part_folder(part)), stopped)
    return cluster


def resumed(small: SmallCluster, fake: FakeSlurm, cluster: ClusterRun, one: str, other: str) -> list[str]:
    """Resume a run whose two jobs have ended in these states. Return the nodes that its new jobs ask for."""
    fake.answers("squeue", f"12|0|{one}|node1|x.sh|None\n12|1|{other}|node1|x.sh|None\n")
    resume(cluster, small.resumed(detach=True), small.host(), waits()[1])
    scripts = [Path(call[-1]).read_text() for call in fake.calls("sbatch")[1:]]
    return [line for text in scripts for line in text.splitlines() if line.startswith(("set -- 0", "#SBATCH --nodel"))]


@pytest.mark.parametrize("state", ["TIMEOUT", "CANCELLED", "PREEMPTED", "REQUEUE_HOLD"])
def test_a_part_that_was_cut_off_asks_for_its_node(
    small: SmallCluster, fake: FakeSlurm, begun: ClusterRun, state: str
) -> None:
    """So that no measurement is repeated, while a part whose node has failed takes any."""
    lines = resumed(small, fake, begun, state, "NODE_FAIL")

    assert lines == ["#SBATCH --nodelist=node1", "set -- 000", "set -- 001"]
    assert len(fake.calls("sinfo")) == 1


def test_a_node_that_takes_no_jobs_is_not_waited_for(small: SmallCluster, fake: FakeSlurm, begun: ClusterRun) -> None:
    fake.answers("sinfo", "node1|drained\nnode2|idle\n")

    assert resumed(small, fake, begun, "TIMEOUT", "TIMEOUT") == ["set -- 000 001"]


def test_a_site_that_tells_no_nodes_takes_any(small: SmallCluster, fake: FakeSlurm, begun: ClusterRun) -> None:
    fake.answers("sinfo", error="sinfo: error: Invalid partition\n")

    assert resumed(small, fake, begun, "TIMEOUT", "TIMEOUT") == ["set -- 000 001"]
    assert any("may begin anew on other nodes" in line for line in small.said)


def test_a_part_that_was_not_begun_takes_any_node(small: SmallCluster, fake: FakeSlurm) -> None:
    cluster = run(small.options(detach=True), SLURM, small.host(), waits()[1]).cluster

    assert resumed(small, fake, cluster, "CANCELLED", "CANCELLED") == ["set -- 000 001"]
    assert not fake.calls("sinfo")
