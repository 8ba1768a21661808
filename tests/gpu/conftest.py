"""An interpreter on a fake host with GPUs, on which the whole program runs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.envelopes import data_of

STAND_IN = Path(__file__).parent / "stand_in"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class FakeHost:
    """A host whose CPUs and GPUs are made up. All else is real: processes, files, locks and clocks."""

    folder: Path
    python: Path
    state: Path

    def set(self, *, gpus: int, cpus: int = 32, **further: Any) -> None:
        """Have so many GPUs and CPUs."""
        described = [{"uuid": f"GPU-{number}"} for number in range(gpus)]
        self.state.write_text(json.dumps({"driver": "550.1", "cpus": cpus, "gpus": described, **further}))

    def change(self, gpu: int, **facts: Any) -> None:
        """Change one GPU, while processes run or before."""
        state = json.loads(self.state.read_text())
        state["gpus"][gpu].update(facts)
        self.state.write_text(json.dumps(state))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the orchestrator in the folder of the host."""
        return self.call("-m", "orchestrator", *arguments)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the interpreter in the folder of the host."""
        names = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "LANG")
        variables = {name: os.environ[name] for name in names if name in os.environ}
        own = {"HOME": str(self.folder), "PYTHONPATH": str(ROOT), "ORCHESTRATOR_LOCK_FOLDER": str(self.folder)}
        return subprocess.run(
            [self.python, *arguments], cwd=self.folder, env=variables | own, capture_output=True, text=True, check=False
        )

    def repeats(self, *arguments: str) -> Sequence[dict[str, Any]]:
        """Run a matrix, and return the outcomes of its repeats."""
        ended = self.run("run", "--runtime", "host", "--json", *arguments)
        assert ended.stdout, ended.stderr
        return [repeat["outcome"] for cell in data_of(ended.stdout)["cells"] for repeat in cell["repeats"]]


@pytest.fixture
def fake_host(tmp_path: Path) -> FakeHost:
    """A virtual environment that sees the packages of this one, and the stand-ins before them."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for file in STAND_IN.glob("*.py"):
        shutil.copy(file, packages)
    (packages / "stand_in.pth").write_text(f"{sysconfig.get_path('purelib')}\nimport fake_gpus\n")
    folder = tmp_path / "host"
    folder.mkdir()
    return FakeHost(folder, environment / "bin" / "python", packages / "state.json")
