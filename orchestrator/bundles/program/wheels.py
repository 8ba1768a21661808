"""The wheels of the orchestrator's dependencies, fetched by pip from the lock for the Pythons of the far side."""

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
from orchestrator.bundles.program.lock import LOCK, read_lock, unsatisfied
from orchestrator.errors import HostError
from orchestrator.images.settings import redacted, secrets
from orchestrator.processes import Cause, StartError, Stop, tail
from orchestrator.runtimes import sources
from orchestrator.runtimes.environments import Workshop, reason

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Default Pythons of the far side."""
GLIBC_MINOR = 28
"""RHEL 8, Debian 10, Ubuntu 20.04 and newer have glibc 2.28. Older ones use the image."""
TIMEOUT_S = 1800.0


class WheelsError(HostError):
    """Wheels for one Python that are not available. The message is one line."""


@dataclass(frozen=True, slots=True)
class TargetPlatform:
    """A Python and a machine of the far side."""

    python: str
    """`3.12`."""
    machine: str = "x86_64"
    """Name from the kernel."""

    @property
    def platforms(self) -> list[str]:
        """The platform tags, oldest C library first, so that pip prefers the wheel that runs on most hosts."""
        minors = (f"manylinux_2_{minor}" for minor in range(5, GLIBC_MINOR + 1))
        old = ("linux", "manylinux1", "manylinux2010", "manylinux2014")
        return [f"{name}_{self.machine}" for name in (*old, *minors)]


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The place that wheels come from, the log, and the request to stop."""

    workshop: Workshop
    log: Path
    stop: Stop


def fetch(
    own: Path, target: TargetPlatform, folder: Path, settings: FetchSettings, lock: Path = LOCK
) -> tuple[str, ...]:
    """Fetch every wheel that the wheel `own` needs on a target into `folder`, and return their file names.

    Versions and hashes come from the lock, so that each export of a release fetches the same wheels. Wheels in the
    folder stay. Raises `WheelsError` if the lock lacks a dependency, or the package index lacks a wheel.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as place:
        requirements = Path(place) / "requirements.txt"
        requirements.write_text(_requirements(own, target, lock), encoding="utf-8")
        fetched = Path(place) / "wheels"
        fetched.mkdir()
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python]
        command += [part for platform in target.platforms for part in ("--platform", platform)]
        command += ["--dest", str(fetched), "--requirement", str(requirements), *_offline(settings)]
        _run(command, settings, target)
        names = sorted(path.name for path in fetched.iterdir())
        for name in names:
            # The name holds version and build, and pip checked the hash, so equal names have equal contents.
            if not (folder / name).exists():
                shutil.move(fetched / name, folder / name)
    return tuple(names)


def needs(wheel: Path) -> tuple[str, ...]:
    """Return the requirements of a wheel without those of its extras."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []
    return tuple(line for line in lines if "extra ==" not in str(Requirement(line).marker))


def resolve_command(requirements: Path, target: TargetPlatform) -> list[str]:
    """Return the command that resolves requirements for a target to wheels."""
    return [
        uv.find_uv_bin(), "pip", "compile", "--quiet", "--only-binary", ":all:", "--generate-hashes", "--no-header",
        "--no-annotate", "--python-version", target.python,
        "--python-platform", f"{target.machine}-manylinux_2_{GLIBC_MINOR}", str(requirements),
    ]  # fmt: skip


def _requirements(own: Path, target: TargetPlatform, lock: Path) -> str:
    """Return the lines of the lock for a target."""
    packages = read_lock(lock)
    python = target.python
    missing = unsatisfied(needs(own), packages, python, target.machine)
    if missing:
        raise WheelsError(
            f"wheels for Python {python} cannot be fetched: {lock} has no {', '.join(missing)}; renew it: make lock"
        )
    return "".join(f"{package.line}\n" for package in packages if package.serves(python, target.machine))


def _offline(settings: FetchSettings) -> list[str]:
    return ["--no-index"] if settings.workshop.settings.no_index else []


def _run(command: list[str], settings: FetchSettings, target: TargetPlatform) -> None:
    workshop = settings.workshop
    workshop.cache.mkdir(parents=True, exist_ok=True)
    try:
        finished = processes.run(
            command,
            environment=sources.variables(workshop.settings, workshop.host, workshop.cache),
            folder=workshop.cache,
            log=settings.log,
            timeout_s=TIMEOUT_S,
            stop=settings.stop,
        )
    except StartError as error:
        raise WheelsError(f"wheels for Python {target.python} cannot be fetched: {error}") from error
    if finished.cause is Cause.EXITED and finished.exit_code == 0:
        return
    log_reason = "stopped" if finished.cause is Cause.STOPPED else reason(tail(settings.log))
    cause = redacted(log_reason, secrets(workshop.settings)) or f"{Path(command[0]).name} exited {finished.exit_code}"
    raise WheelsError(f"wheels for Python {target.python} cannot be fetched: {cause}{_remedy(cause)}")


def _remedy(cause: str) -> str:
    """Return the remedy if the package index lacks a wheel of the lock, else an empty text."""
    if "No matching distribution" in cause or "Could not find a version" in cause:
        return "; the lock of the orchestrator names this version: have the package index or mirror hold its wheel"
    if "DO NOT MATCH THE HASHES" in cause:
        return "; the package index has another file of that name than the lock: have it hold the original wheel"
    return ""
