"""The orchestrator of a node, installed from a wheel in the shared folder."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from bench_folder import BenchFolder

from orchestrator.resources import ROOT

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
OWN = "framework_bench"


def built(folder: Path) -> Path:
    """Build the wheel of this program. The source stays as it is."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            folder,
            ROOT,
        ],
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def dependencies(folder: Path) -> Path:
    """Make a folder with the packages of this interpreter but our own, in place of an index that nodes reach."""
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if OWN not in entry.name and not entry.name.endswith(".pth"):
            (folder / entry.name).symlink_to(entry)
    return folder


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
