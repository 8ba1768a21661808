"""The orchestrator of a node, installed from a wheel in the shared folder."""

import sys

import pytest
from bench_folder import BenchFolder
from wheels_here import built, dependencies

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


def test_both_nodes_run_the_wheel_of_one(bench: BenchFolder) -> None:
    """It is installed once, though both jobs begin at the same time, and nothing else of ours is on their path."""
    wheel = built(bench.folder / "wheels")
    packages = dependencies(bench.folder / "packages")
    bench.scripts("a", "b", together=2)
    program = {"wheel": str(wheel), "python": sys.executable}
    bench.site(setup=[f"export PYTHONPATH={packages} PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1"], program=program)
    bench.run("run", "--runtime", "host")

    assert bench.ended() == {"a": ["ok"], "b": ["ok"]}
    cluster = bench.report().cluster
    assert cluster
    assert {part.node for part in cluster.parts} == {"node1", "node2"}
    (installed,) = (path for path in wheel.parent.glob(".orchestrator-*") if path.is_dir())
    packages_of_it = next((installed / "lib").glob("python3*/site-packages"))
    assert (packages_of_it / "orchestrator" / "cli").is_dir()
