"""Every command of docs/cluster.md in its order, with containers, on a cluster of two nodes."""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from bench_folder import BenchFolder
from page_sections import PAGE, WITH_CONTAINERS
from wheels_here import built, dependencies

from tests.documented import blocks, fenced

pytestmark = [pytest.mark.slurm, pytest.mark.docker]
MATRIX = "version: 1\nname: page\nframeworks: [noop==1]\nmodels: [lenet, mlp]\nsteps: 10\nrepeats: 1\nparity: false\n"
CELLS = {"noop-1-cpu/lenet-train-b200", "noop-1-cpu/mlp-train-b32"}


@dataclass(frozen=True)
class Page:
    """The page with a shared folder, and the blocks of its commands that were not run yet."""

    bench: BenchFolder
    left: Iterator[str]
    variables: dict[str, str]

    def next(self) -> str:
        """Run the next block of commands in the shell of the page's user, and return what it printed."""
        kept = self.bench.folder / "shell"
        before = f'if [ -e "{kept}" ]; then PATH=$(cat "{kept}"); cd "$SHARED"; fi'
        return self.bench.shell(f'{before}\n{next(self.left)}\necho "$PATH" > "{kept}"\n', **self.variables)

    def nodes(self) -> dict[str, str]:
        """Return the node of each cell of the latest run."""
        text = self.bench.run("report", "latest", "--format", "csv").partition("\npage: ")[0]
        return {row["cell"]: row["node"] for row in csv.DictReader(text.splitlines())}


@pytest.fixture
def page(bench: BenchFolder, base_image: str) -> Page:
    """The site file and the program are the page's; only what an index and a registry would give comes from here."""
    packages = dependencies(bench.folder / "packages")
    (site,) = (text for text in fenced(PAGE, "yaml") if "slurm" in text)
    setup = f"setup:\n- export ORCHESTRATOR_BASE_IMAGE='{base_image}' PYTHONPATH={packages}\n"
    setup += f"- export ORCHESTRATOR_LOCK_FOLDER={bench.folder}/locks-$SLURMD_NODENAME ORCHESTRATOR_IDLE_WAIT=0\n"
    (bench.folder / "site.yaml").write_text(f"{site}{setup}")
    (bench.folder / "matrix.yaml").write_text(MATRIX)
    commands = (block for name in WITH_CONTAINERS for block in blocks(PAGE, name, "sh"))
    variables = {
        "SHARED": f"{bench.folder}",
        "CHECKOUT": f"{built(bench.folder / 'wheels')}",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{packages}",
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
    }
    return Page(bench, commands, variables)


@pytest.mark.slow
def test_every_command_of_the_page_works(page: Page) -> None:
    page.next()
    assert (page.bench.folder / "venv" / "bin" / "orchestrator").is_file()
    assert "2 cells" in page.next()
    assert "2 planned repeats: 2 ok" in page.next()
    assert set(page.nodes()) == CELLS
    detached = page.next()
    name, runs, _ = detached.partition("\n")[0], *detached.split("\n", 2)[1:]
    assert name in runs or name in detached
    assert "2 planned repeats: 2 ok" in detached
    assert page.next().splitlines() == [name]
    assert "2 planned repeats: 2 ok" in page.next()
    assert (page.bench.folder / "results" / name / "report" / "index.html").is_file()
    assert "ranked on each by itself" in " ".join(page.next().split())
    assert next(page.left, None) is None
