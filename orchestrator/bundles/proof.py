"""The proof that a bundle's wheels are enough: an installation with no index for each Python of the far side."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import processes
from orchestrator.bundles.own_wheel import DISTRIBUTION
from orchestrator.bundles.wheels import Far, WheelsError, resolving
from orchestrator.errors import HostError
from orchestrator.processes import Captured, StartError, last_line
from orchestrator.runtimes import interpreters
from orchestrator.runtimes.environments import Workshop, reason

TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Proof:
    """How it is known that the wheels are enough for one Python."""

    python: str
    interpreter: str = ""
    """The version that they were installed on, where the program then planned a matrix; empty where none was at hand
    and the wheels were only found to satisfy each other."""

    @property
    def sentence(self) -> str:
        """One line for people."""
        if self.interpreter:
            return f"wheels for Python {self.python}: installed with no index, and run"
        return f"wheels for Python {self.python}: complete, but not tried (no such interpreter here)"


def prove(wheels: Path, far: Far, workshop: Workshop) -> Proof:
    """Install the wheels of a folder with no index into a fresh environment, as the far side will, and run the program.

    Where no such interpreter (or no such machine) is at hand, it is only resolved that nothing is missing.
    Raises `WheelsError` with the reason where the wheels are not enough.
    """
    own = interpreters.find(far.python, workshop.host, Path(sys.executable), wheels)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place)
        if own is None or os.uname().machine != far.machine:
            _resolve(wheels, far, folder)
            return Proof(far.python)
        environment = folder / "environment"
        python = str(environment / "bin" / "python")
        _said([str(own.path), "-I", "-m", "venv", "--without-pip", str(environment)], far, folder)
        _said([python, str(pip(wheels) / "pip"), *installing(wheels)], far, folder)
        _said([str(environment / "bin" / "orchestrator"), "plan"], far, folder)
    return Proof(far.python, own.version)


def pip(wheels: Path) -> Path:
    """Give the wheel of pip, which runs without being installed; raises `WheelsError` where there is none."""
    found = sorted(wheels.glob("pip-*.whl"))
    if not found:
        raise WheelsError(f"{wheels}: holds no pip")
    return found[-1]


def installing(wheels: Path) -> Sequence[str]:
    """Give pip's arguments that install the orchestrator from a folder alone."""
    return (
        "install", "--isolated", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-compile",
        "--no-index", "--only-binary", ":all:", "--find-links", str(wheels), DISTRIBUTION,
    )  # fmt: skip


def _resolve(wheels: Path, far: Far, folder: Path) -> None:
    requirements = folder / "requirements.in"
    requirements.write_text(f"{DISTRIBUTION}\n", encoding="utf-8")
    _said([*resolving(requirements, far), "--no-config", "--no-index", "--find-links", str(wheels)], far, folder)


def _said(command: list[str], far: Far, folder: Path) -> Captured:
    # Nothing of this host's configuration, or the proof would be one of this host.
    variables = {"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "UV_NO_CACHE": "1", "UV_OFFLINE": "1"}
    try:
        said = processes.capture(command, environment=variables, folder=folder, timeout_s=TIMEOUT_S)
    except StartError as error:
        raise HostError(f"the wheels for Python {far.python} cannot be tried: {error}") from error
    if said.exit_code != 0:
        why = reason(said.errors) or last_line(said.output) or f"{Path(command[0]).name} exited {said.exit_code}"
        raise WheelsError(f"the wheels for Python {far.python} are not enough: {why}")
    return said
