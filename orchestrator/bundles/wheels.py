"""The orchestrator's dependencies as wheels for the far side's Pythons: resolved by uv, fetched by pip, none built."""

import importlib.metadata
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

import uv
from packaging.requirements import Requirement

from orchestrator import processes
from orchestrator.errors import HostError
from orchestrator.images.settings import redacted, secrets
from orchestrator.processes import Cause, StartError, Stop, tail
from orchestrator.runtimes import sources
from orchestrator.runtimes.environments import Workshop, reason

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Which the far side may have, unless it is said."""
GLIBC_MINOR = 28
"""Of glibc 2.28, which RHEL 8, Debian 10, Ubuntu 20.04 and all after them have; older ones take the container."""
PYPI = "https://pypi.org/simple"
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


def fetch(own: Path, far: Far, folder: Path, errand: Errand) -> tuple[str, ...]:
    """Bring every wheel that `own` needs on one Python of the far side into `folder`; give their file names.

    Those that are there already, with the right content, are not fetched again. Versions are those that run here
    wherever the other Python has them. Raises `WheelsError` where one cannot be had as a wheel.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as place:
        lock = _resolve(own, far, Path(place), errand)
        fetched = Path(place) / "wheels"
        fetched.mkdir()
        command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", far.python]
        command += [part for platform in far.platforms for part in ("--platform", platform)]
        command += ["--dest", str(fetched), "--requirement", str(lock), *_offline(errand)]
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


def _resolve(own: Path, far: Far, place: Path, errand: Errand) -> Path:
    requirements, lock = place / "requirements.in", place / "requirements.txt"
    requirements.write_text("".join(f"{line}\n" for line in needs(own)), encoding="utf-8")
    # What stands in the output beforehand is preferred, so that the far side gets what runs here.
    lock.write_text("".join(f"{name}=={version}\n" for name, version in _at_hand()), encoding="utf-8")
    _run([*resolving(requirements, far), "--output-file", str(lock), *_offline(errand)], errand, far)
    return lock


def _at_hand() -> Sequence[tuple[str, str]]:
    found = importlib.metadata.distributions()
    return sorted({one.name: one.version for one in found if "+" not in one.version}.items())


def _variables(workshop: Workshop) -> dict[str, str]:
    """As everywhere, but with the main index first.

    Of a version that several indexes have, uv sees the files of the first one alone, and it is the main index that
    has them for all Pythons.
    """
    settings = workshop.settings
    indexes = (settings.pip_index or PYPI, *settings.extra_indexes)
    order = {"UV_INDEX": " ".join(indexes[:-1]), "UV_DEFAULT_INDEX": indexes[-1]}
    return sources.variables(settings, workshop.host, workshop.cache) | order


def _offline(errand: Errand) -> list[str]:
    return ["--no-index"] if errand.workshop.settings.no_index else []


def _run(command: list[str], errand: Errand, far: Far) -> None:
    workshop = errand.workshop
    workshop.cache.mkdir(parents=True, exist_ok=True)
    try:
        finished = processes.run(
            command,
            environment=_variables(workshop),
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
    raise WheelsError(f"wheels for Python {far.python} cannot be fetched: {why}")
