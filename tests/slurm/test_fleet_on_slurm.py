"""A fleet check as docs/cluster.md has it, on a cluster of three nodes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm_cluster
from bench_folder import BenchFolder
from page_sections import OF_FLEET, PAGE
from slurm_cluster import SlurmCluster

from tests.documented import blocks
from tests.required import missing

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
MATRIX = "version: 1\nname: fleet\nframeworks: [noop==1]\nmodels: [mlp]\nsteps: 10\nparity: false\n"
SMALL = {
    "matrix.yaml ": "matrix.yaml --rounds 3 --runtime host ", "node[1-8]": "node[1-3]", "--rounds 12": "--rounds 3",
    "'torch-*-cpu/lenet-infer-*'": "'noop-*' --runtime host",
}  # fmt: skip
"""Differences from the page: this cluster has three nodes, and no framework."""
JUDGED = {0, 3}
"""The exit statuses of a check. A node may be unlike the others, which share two processors."""


@pytest.fixture
def three(tmp_path: Path) -> Iterator[BenchFolder]:
    """A folder that three nodes see."""
    if reason := slurm_cluster.missing():
        missing(reason, "BENCH_REQUIRE_SLURM")
    cluster = SlurmCluster(tmp_path / "slurm", nodes=3)
    cluster.start()
    (tmp_path / "bench").mkdir()
    yield BenchFolder(tmp_path / "bench", cluster)
    cluster.clear()
    cluster.stop()


def test_the_commands_of_the_page_check_three_nodes(three: BenchFolder) -> None:
    (three.folder / "matrix.yaml").write_text(MATRIX)
    (commands,) = (block for name in OF_FLEET for block in blocks(PAGE, name, "sh"))
    for words, others in SMALL.items():
        assert words in commands
        commands = commands.replace(words, others)
    first, detached, attached = commands.splitlines()

    said = three.shell(first, JUDGED)
    assert "3 rounds" in said
    assert all(f"node{number}" in said for number in (1, 2, 3))
    name = three.shell(detached).strip()
    assert len(list((three.folder / "results" / "fleet" / name / "parts").iterdir())) == 9
    assert "3 rounds" in three.shell(attached, JUDGED)
    parts = three.folder.glob("results/fleet/*/parts/*/node[1-3]/run.json")
    assert len(list(parts)) == 2 * 9
