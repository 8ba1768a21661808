"""The lock that ships with the program: which version of each dependency, with the hashes of its files."""

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
class Pin:
    """One line of a lock, which some Pythons and systems alone may have."""

    requirement: Requirement
    hashes: tuple[str, ...]

    def serves(self, python: str, machine: str) -> bool:
        """Whether it is meant for that Python, `3.12`, on Linux and that machine, as the kernel names it."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(_environment(python, machine))

    @property
    def line(self) -> str:
        """The requirement without its marker, as pip reads it with `--require-hashes`."""
        return f"{self.requirement.name}{self.requirement.specifier} {' '.join(self.hashes)}"


def read(lock: Path = LOCK) -> tuple[Pin, ...]:
    """Read a file of pins and hashes, as `make lock` writes it."""
    pins = []
    for line in lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        text, *hashes = line.partition("#")[0].split(_HASH)
        if text.strip():
            pins.append(Pin(Requirement(text.strip()), tuple(f"{_HASH}{one.strip()}" for one in hashes)))
    return tuple(pins)


def unsatisfied(requirements: Iterable[str], pins: Iterable[Pin], python: str, machine: str) -> tuple[str, ...]:
    """Return the requirements, extras of ours aside, that no pin meets on that Python and machine."""
    versions = {
        canonicalize_name(pin.requirement.name): Version(str(pin.requirement.specifier).removeprefix("=="))
        for pin in pins
        if pin.serves(python, machine)
    }
    environment = _environment(python, machine)
    wanted = [Requirement(text) for text in requirements]
    return tuple(
        str(one)
        for one in wanted
        if (one.marker is None or one.marker.evaluate(environment))
        and (
            (version := versions.get(canonicalize_name(one.name))) is None
            or not one.specifier.contains(version, prereleases=True)
        )
    )


def _environment(python: str, machine: str) -> dict[str, str]:
    """The values of PEP 508's markers, of the oldest patch release of a Python."""
    return {
        "python_version": python, "python_full_version": f"{python}.0", "implementation_version": f"{python}.0",
        "implementation_name": "cpython", "platform_python_implementation": "CPython", "os_name": "posix",
        "sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine, "platform_release": "",
        "platform_version": "", "extra": "",
    }  # fmt: skip
