"""The proof that a bundle's wheels are enough, by an installation without an index for each Python."""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator import processes
from orchestrator.bundles.program.own_wheel import DISTRIBUTION
from orchestrator.bundles.program.wheels import TargetPlatform, WheelsError, resolve_command
from orchestrator.errors import HostError
from orchestrator.processes import StartError, last_line
from orchestrator.results.files.writing import write_atomically
from orchestrator.runtimes import local
from orchestrator.runtimes.environments import Workshop, reason

TIMEOUT_S = 600.0
_PROOFS = "wheel-proofs"


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence that the wheels are enough for one Python."""

    python: str
    interpreter: str = ""
    """Version of the Python on which the installed program planned a matrix.

    Empty if there was none here, so that the requirements were only resolved.
    """

    @property
    def sentence(self) -> str:
        """One line for people."""
        if self.interpreter:
            return f"wheels for Python {self.python}: installed with no index, and run"
        return f"wheels for Python {self.python}: complete, but not tried (no such interpreter here)"


def prove_once(wheels: Path, names: Sequence[str], target: TargetPlatform, workshop: Workshop) -> Proof:
    """Prove wheels, unless the same wheels were installed on this host before."""
    digests = [hashlib.sha256((wheels / name).read_bytes()).hexdigest() for name in names]
    key = hashlib.sha256("\n".join([target.python, target.machine, *names, *digests]).encode()).hexdigest()[:16]
    record = workshop.cache / _PROOFS / f"{key}.json"
    try:
        return Proof(target.python, str(json.loads(record.read_text())["interpreter"]))
    except (OSError, ValueError, KeyError, TypeError):
        proof = prove(wheels, target, workshop)
    if proof.interpreter:
        record.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(record, json.dumps({"interpreter": proof.interpreter}) + "\n")
    return proof


def prove(wheels: Path, target: TargetPlatform, workshop: Workshop) -> Proof:
    """Install the wheels of a folder without an index into a fresh environment, and run the program.

    Without such an interpreter or machine, the requirements are only resolved.
    Raises `WheelsError` with the reason if the wheels are not enough.
    """
    own = local.find_interpreter(target.python, workshop.host, Path(sys.executable), wheels)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place)
        if own is None or os.uname().machine != target.machine:
            _resolve(wheels, target, folder)
            return Proof(target.python)
        environment = folder / "environment"
        python = str(environment / "bin" / "python")
        _run([str(own.path), "-I", "-m", "venv", "--without-pip", str(environment)], target, folder)
        _run([python, str(pip(wheels) / "pip"), *install_arguments(wheels)], target, folder)
        _run([str(environment / "bin" / "orchestrator"), "plan"], target, folder)
    return Proof(target.python, own.version)


def pip(wheels: Path) -> Path:
    """Return the wheel of pip, which runs without an installation. Raises `WheelsError` if there is none."""
    candidates = sorted(wheels.glob("pip-*.whl"))
    if not candidates:
        raise WheelsError(f"{wheels}: holds no pip")
    return candidates[-1]


def install_arguments(wheels: Path) -> Sequence[str]:
    """Return pip's arguments that install the orchestrator from a folder."""
    return (
        "install", "--isolated", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-compile",
        "--no-index", "--only-binary", ":all:", "--find-links", str(wheels), DISTRIBUTION,
    )  # fmt: skip


def _resolve(wheels: Path, target: TargetPlatform, folder: Path) -> None:
    requirements = folder / "requirements.in"
    requirements.write_text(f"{DISTRIBUTION}\n", encoding="utf-8")
    command = [*resolve_command(requirements, target), "--no-config", "--no-index", "--find-links", str(wheels)]
    _run(command, target, folder)


def _run(command: list[str], target: TargetPlatform, folder: Path) -> None:
    # No configuration of this host, which the far side lacks.
    variables = {"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "UV_NO_CACHE": "1", "UV_OFFLINE": "1"}
    try:
        run = processes.capture(command, environment=variables, folder=folder, timeout_s=TIMEOUT_S)
    except StartError as error:
        raise HostError(f"the wheels for Python {target.python} cannot be tried: {error}") from error
    if run.exit_code != 0:
        cause = reason(run.errors) or last_line(run.output) or f"{Path(command[0]).name} exited {run.exit_code}"
        raise WheelsError(f"the wheels for Python {target.python} are not enough: {cause}")
