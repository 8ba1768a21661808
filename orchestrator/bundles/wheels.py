"""The orchestrator's dependencies as wheels for the far side's Pythons: those of the lock, fetched by pip."""

import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

import uv
from packaging.requirements import Requirement

from orchestrator import processes
from orchestrator.bundles.locked import LOCK, read, unsatisfied
from orchestrator.errors import HostError
from orchestrator.images.settings import redacted, secrets
from orchestrator.processes import Cause, StartError, Stop, tail
from orchestrator.runtimes import sources
from orchestrator.runtimes.environments import Workshop, reason

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Which the far side may have, unless it is said."""
GLIBC_MINOR = 28
"""Of glibc 2.28, which RHEL 8, Debian 10, Ubuntu 20.04 and all after them have; older ones take the container."""
TIMEOUT_S = 1800.0


class WheelsError(HostError):
    """Wheels for one Python that cannot be had; the message is one line."""


@dataclass(frozen=True, slots=True)
class Far:
    """What the far side runs wheels on."""

    python: str
    """`3.12`."""
    machine: str = "x86_64"
    """As the kernel names it."""

    @property
    def platforms(self) -> list[str]:
        """Platform tags, the oldest C library first: of several wheels, the one that runs on most hosts is taken."""
        minors = (f"manylinux_2_{minor}" for minor in range(5, GLIBC_MINOR + 1))
        old = ("linux", "manylinux1", "manylinux2010", "manylinux2014")
        return [f"{name}_{self.machine}" for name in (*old, *minors)]


@dataclass(frozen=True, slots=True)
class Errand:
    """How wheels are fetched: from where, with a log, until stopped."""

    workshop: Workshop
    log: Path
    stop: Stop


def fetch(own: Path, far: Far, folder: Path, errand: Errand, lock: Path = LOCK) -> tuple[str, ...]:
    """Bring every wheel that `own` needs on one Python of the far side into `folder`; give their file names.

    Those that are there already, with the right content, are not fetched again. Versions and hashes are those of the
    lock, so that each export of a release brings the same. Raises `WheelsError` if the lock lacks one, or the package
    index has it not as a wheel with that hash.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as place:
        requirements = Path(place) / "requirements.txt"
        requirements.write_text(_locked(own, far, lock), encoding="utf-8")
        fetched = Path(place) / "wheels"
        fetched.mkdir()
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", far.python]
        command += [part for platform in far.platforms for part in ("--platform", platform)]
        command += ["--dest", str(fetched), "--requirement", str(requirements), *_offline(errand)]
        _run(command, errand, far)
        names = sorted(path.name for path in fetched.iterdir())
        for name in names:
            # Names hold version and build, and hashes were asked for: what has the name has the content.
            if not (folder / name).exists():
                shutil.move(fetched / name, folder / name)
    return tuple(names)


def needs(wheel: Path) -> tuple[str, ...]:
    """Give the requirements of a wheel, its extras aside."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []
    return tuple(line for line in lines if "extra ==" not in str(Requirement(line).marker))


def resolving(requirements: Path, far: Far) -> list[str]:
    """Give the command that finds versions for a Python of the far side, wheels alone, in the file it also writes."""
    return [
        uv.find_uv_bin(), "pip", "compile", "--quiet", "--only-binary", ":all:", "--generate-hashes", "--no-header",
        "--no-annotate", "--python-version", far.python,
        "--python-platform", f"{far.machine}-manylinux_2_{GLIBC_MINOR}", str(requirements),
    ]  # fmt: skip


def _locked(own: Path, far: Far, lock: Path) -> str:
    """Return the lock as one Python of the far side takes it."""
    pins = read(lock)
    lacking = unsatisfied(needs(own), pins, far.python, far.machine)
    if lacking:
        raise WheelsError(
            f"wheels for Python {far.python} cannot be fetched: {lock} has no {', '.join(lacking)}; renew it: make lock"
        )
    return "".join(f"{pin.line}\n" for pin in pins if pin.serves(far.python, far.machine))


def _offline(errand: Errand) -> list[str]:
    return ["--no-index"] if errand.workshop.settings.no_index else []


def _run(command: list[str], errand: Errand, far: Far) -> None:
    workshop = errand.workshop
    workshop.cache.mkdir(parents=True, exist_ok=True)
    try:
        finished = processes.run(
            command,
            environment=sources.variables(workshop.settings, workshop.host, workshop.cache),
            folder=workshop.cache,
            log=errand.log,
            timeout_s=TIMEOUT_S,
            stop=errand.stop,
        )
    except StartError as error:
        raise WheelsError(f"wheels for Python {far.python} cannot be fetched: {error}") from error
    if finished.cause is Cause.EXITED and finished.exit_code == 0:
        return
    said = "stopped" if finished.cause is Cause.STOPPED else reason(tail(errand.log))
    why = redacted(said, secrets(workshop.settings)) or f"{Path(command[0]).name} exited {finished.exit_code}"
    raise WheelsError(f"wheels for Python {far.python} cannot be fetched: {why}{_remedy(why)}")


def _remedy(why: str) -> str:
    """What to do where the package index has not got what the lock names."""
    if "No matching distribution" in why or "Could not find a version" in why:
        return "; the lock of the orchestrator names this version: have the package index or mirror hold its wheel"
    if "DO NOT MATCH THE HASHES" in why:
        return "; the package index has another file of that name than the lock: have it hold the original wheel"
    return ""
