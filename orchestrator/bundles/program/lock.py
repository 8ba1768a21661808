"""The lock of the program, with the version of each dependency and the hashes of its files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from orchestrator.resources import ROOT

LOCK = ROOT / "locks" / "runtime.txt"
_HASH = "--hash="


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One line of a lock, which may be for some Pythons and systems only."""

    requirement: Requirement
    hashes: tuple[str, ...]

    def serves(self, python: str, machine: str) -> bool:
        """Return true if the line applies to a Python such as `3.12` on Linux on a machine, as the kernel names it."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(_environment(python, machine))

    @property
    def line(self) -> str:
        """The requirement without its marker, for pip's `--require-hashes`."""
        return f"{self.requirement.name}{self.requirement.specifier} {' '.join(self.hashes)}"


def read_lock(lock: Path = LOCK) -> tuple[LockedPackage, ...]:
    """Read a lock that `make lock` wrote."""
    packages = []
    for line in lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        text, *hashes = line.partition("#")[0].split(_HASH)
        if text.strip():
            locked_hashes = tuple(f"{_HASH}{value.strip()}" for value in hashes)
            packages.append(LockedPackage(Requirement(text.strip()), locked_hashes))
    return tuple(packages)


def unsatisfied(
    requirements: Iterable[str], packages: Iterable[LockedPackage], python: str, machine: str
) -> tuple[str, ...]:
    """Return the requirements that no package of a lock meets on a Python and a machine."""
    versions = {
        canonicalize_name(package.requirement.name): Version(str(package.requirement.specifier).removeprefix("=="))
        for package in packages
        if package.serves(python, machine)
    }
    environment = _environment(python, machine)
    return tuple(
        str(requirement)
        for requirement in map(Requirement, requirements)
        if (requirement.marker is None or requirement.marker.evaluate(environment))
        and (
            (version := versions.get(canonicalize_name(requirement.name))) is None
            or not requirement.specifier.contains(version, prereleases=True)
        )
    )


def _environment(python: str, machine: str) -> dict[str, str]:
    """Return the values of the PEP 508 markers for the oldest patch release of a Python."""
    return {
        "python_version": python, "python_full_version": f"{python}.0", "implementation_version": f"{python}.0",
        "implementation_name": "cpython", "platform_python_implementation": "CPython", "os_name": "posix",
        "sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine, "platform_release": "",
        "platform_version": "", "extra": "",
    }  # fmt: skip
