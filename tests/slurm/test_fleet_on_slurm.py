"""Fleet checks on real clusters: the commands of the page, and a node that is slowed on purpose."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import slurm_cluster
from bench_folder import BenchFolder
from page_sections import OF_FLEET, PAGE
from slurm_cluster import SlurmCluster

from orchestrator.resources import ROOT
from tests.documented import blocks
from tests.required import missing

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
MATRIX = "version: 1\nname: fleet\nframeworks: [noop==1]\nmodels: [mlp]\nsteps: 10\nparity: false\n"
SMALL = {
    "matrix.yaml ": "matrix.yaml --rounds 3 --runtime host ", "node[1-8]": "node[1-3]", "--rounds 12": "--rounds 3",
    "'torch-*-cpu/lenet-infer-*'": "'noop-*' --runtime host",
}  # fmt: skip
"""Differences from the page: this cluster has three nodes, and no framework."""
UNLIKE = 3
JUDGED = {0, UNLIKE}
"""The exit statuses of a check. A node may be unlike the others, which share two processors."""
SLOW = "node2"
WAIT = 100
"""Of the node that is slowed on purpose, in lengths of a block."""


@contextmanager
def fleet(folder: Path, nodes: int) -> Iterator[BenchFolder]:
    """Give a folder that so many nodes see."""
    if reason := slurm_cluster.missing():
        missing(reason, "BENCH_REQUIRE_SLURM")
    cluster = SlurmCluster(folder / "slurm", nodes=nodes)
    cluster.start()
    (folder / "bench").mkdir()
    yield BenchFolder(folder / "bench", cluster)
    cluster.clear()
    cluster.stop()


@pytest.fixture
def three(tmp_path: Path) -> Iterator[BenchFolder]:
    with fleet(tmp_path, 3) as bench:
        yield bench


@pytest.fixture
def four(tmp_path: Path) -> Iterator[BenchFolder]:
    with fleet(tmp_path, 4) as bench:
        yield bench


def slow_program(folder: Path) -> Path:
    """Copy the program to a folder where its measured processes wait, after each block, for many times its length.

    A launch has no variable of its host, so that the wait stands in a file that Python reads when it starts.
    """
    for name in ("orchestrator", "benchmarks", "images"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    planted = (ROOT / "bench" / "planted" / "sitecustomize.py").read_text()
    (folder / "planted.py").write_text(planted)
    (folder / "sitecustomize.py").write_text(f"import os\nos.environ['PLANTED_WAIT'] = '{WAIT}'\nimport planted\n")
    return folder


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


def test_a_slow_node_and_no_other_is_unlike(four: BenchFolder) -> None:
    """They share the CPUs, so that one alone measures at a time. The limit of so few is wide, and so is the wait."""
    slow = slow_program(four.folder / "slow")
    setup = f'[ "$SLURMD_NODENAME" != {SLOW} ] || export PYTHONPATH={slow}'
    four.site(setup=[setup], nodes_at_once=1)
    (four.folder / "matrix.yaml").write_text(MATRIX)
    said = four.shell("orchestrator doctor --fleet -f matrix.yaml --runtime host --rounds 4 --json", {UNLIKE})

    report = json.loads(said)["data"]
    assert (report["nodes"], report["rounds"]) == (["node1", "node2", "node3", "node4"], 4)
    assert report["unlike"] == [SLOW]
    (cell,) = report["cells"]
    assert (cell["rounds"], cell["left_out"]) == (4, [])
    likeness = {node["node"]: node["likeness"] for node in cell["nodes"]}
    assert likeness == dict.fromkeys(report["nodes"], "like") | {SLOW: "unlike"}
    (ratio,) = (node["ratio"] for node in cell["nodes"] if node["node"] == SLOW)
    assert ratio < 1 / WAIT
