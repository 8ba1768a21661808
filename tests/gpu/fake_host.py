"""An interpreter on a fake host with GPUs, on which the whole program runs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.envelopes import data_of

STAND_IN = Path(__file__).parent / "stand_in"
ROOT = Path(__file__).parents[2]
_PROOF = """\
import sys
from pathlib import Path
from orchestrator.devices import inventory
from orchestrator.workflows.host.interference import InterferenceProof, store_proof
low, high = map(float, sys.argv[2:])
store_proof(Path(sys.argv[1]), inventory(), InterferenceProof(1.0, low, high, 8, "a cell", "a run"))
"""


@dataclass(frozen=True)
class FakeHost:
    """A host whose CPUs and GPUs are made up. All else is real: processes, files, locks and clocks."""

    folder: Path
    python: Path
    state: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further variables of its processes."""

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
        everything = variables | own | dict(self.variables)
        return subprocess.run(
            [self.python, *arguments], cwd=self.folder, env=everything, capture_output=True, text=True, check=False
        )

    def prove(self, low: float = 0.99, high: float = 1.01) -> None:
        """Store a proof that cells do not disturb each other, in the place of one that was measured."""
        ended = self.call("-c", _PROOF, str(self.folder / ".cache" / "framework-bench"), str(low), str(high))
        assert ended.returncode == 0, ended.stderr

    def repeats(self, *arguments: str) -> Sequence[dict[str, Any]]:
        """Run a matrix, and return the outcomes of its repeats."""
        ended = self.run("run", "--runtime", "host", "--json", *arguments)
        assert ended.stdout, ended.stderr
        return [repeat["outcome"] for cell in data_of(ended.stdout)["cells"] for repeat in cell["repeats"]]


def made(folder: Path) -> FakeHost:
    """Make a host in an empty folder: an environment that sees the packages of this one, and the stand-ins first."""
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for file in STAND_IN.glob("*.py"):
        shutil.copy(file, packages)
    (packages / "stand_in.pth").write_text(f"{sysconfig.get_path('purelib')}\nimport fake_gpus\n")
    host = folder / "host"
    host.mkdir()
    return FakeHost(host, environment / "bin" / "python", packages / "state.json")


def makespan_s(outcomes: Sequence[dict[str, Any]]) -> float:
    """Return the time from the first begin to the last end."""
    begins = [datetime.fromisoformat(each["started_at"]) for each in outcomes]
    ends = [begin + timedelta(seconds=each["wall_s"]) for begin, each in zip(begins, outcomes, strict=True)]
    return (max(ends) - min(begins)).total_seconds()
