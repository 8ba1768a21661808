"""The files of find-links folders that an image could install. No others are in its build context."""

import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

_BUILD_TOOLS = ("setuptools", "wheel")
_INSTALLERS = ("pip", *_BUILD_TOOLS)
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "": "x86_64"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A wheel or source archive that a folder offers."""

    path: Path
    name: str
    """Canonical."""
    version: Version


def is_folder(link: str) -> bool:
    """Return true if a find-links entry is a folder of this host.

    Otherwise pip inside the image asks it.
    """
    return "://" not in link or link.startswith("file://")


def offered(links: Iterable[str], python: str, architecture: str = "amd64") -> tuple[Candidate, ...]:
    """Return the files of folders that Python `python` on Linux could install, in order of path.

    A missing folder has none.

    `architecture` is the engine's name of it.
    """
    tags = _tags(python, _ARCHITECTURES.get(architecture, architecture))
    folders = [Path(link.removeprefix("file://")) for link in links if is_folder(link)]
    files = sorted({path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()})
    candidates = (_candidate(path, tags) for path in files)
    return tuple(candidate for candidate in candidates if candidate is not None)


def relevant(candidates: Sequence[Candidate], requirements: Sequence[str]) -> tuple[Candidate, ...]:
    """Return the files that an installation of `requirements` could take.

    These are the named ones in a fitting version, and those they need.

    Source archives and installers are followed by name alone: what they need is only known once they are built.
    """
    wanted: dict[str, SpecifierSet] = {name: SpecifierSet() for name in _INSTALLERS}
    for line in requirements:
        parsed = Requirement(line)
        name = str(canonicalize_name(parsed.name))
        wanted[name] = wanted.get(name, SpecifierSet()) & parsed.specifier
    chosen: dict[Path, Candidate] = {}
    queue = list(wanted)
    seen = set(queue)
    while queue:
        name = queue.pop()
        fitting = [one for one in candidates if one.name == name and _fits(one, wanted.get(name))]
        chosen |= {one.path: one for one in fitting}
        needs = {need for one in fitting for need in _needs(one.path)} - seen
        seen |= needs
        queue.extend(needs)
    return tuple(chosen[path] for path in sorted(chosen))


def offers(candidates: Iterable[Candidate], requirement: str) -> bool:
    """Return true if one of them satisfies a requirement."""
    parsed = Requirement(requirement)
    name = canonicalize_name(parsed.name)
    return any(one.name == name and _fits(one, parsed.specifier) for one in candidates)


def _fits(candidate: Candidate, specifier: SpecifierSet | None) -> bool:
    return specifier is None or specifier.contains(candidate.version, prereleases=True)


def _candidate(path: Path, tags: frozenset[Tag]) -> Candidate | None:
    try:
        if path.suffix == ".whl":
            name, version, _, own_tags = parse_wheel_filename(path.name)
            if not any(_portable(tag) in tags for tag in own_tags):
                return None
        else:
            name, version = parse_sdist_filename(path.name)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    return Candidate(path, str(name), version)


def _tags(python: str, machine: str) -> frozenset[Tag]:
    major, minor = (int(part) for part in python.split(".")[:2])
    version = (major, minor)
    # The ABI of 3.6 and 3.7 carries the `m` of pymalloc, which is what every build of them has.
    abis = [f"cp{major}{minor}m"] if version < (3, 8) else [f"cp{major}{minor}"]
    platforms = [f"linux_{machine}"]
    return frozenset(
        [*cpython_tags(version, abis, platforms), *compatible_tags(version, f"cp{major}{minor}", platforms)]
    )


def _portable(tag: Tag) -> Tag:
    """The tag with any glibc promise (`manylinux_2_28_x86_64`, `manylinux2014_x86_64`) taken as plain Linux.

    The C library of the base image is not known here; pip in the image has the last word.
    """
    if not tag.platform.startswith("manylinux"):
        return tag
    machine = tag.platform.removeprefix("manylinux").lstrip("_0123456789")
    return Tag(tag.interpreter, tag.abi, f"linux_{machine}")


def _needs(path: Path) -> set[str]:
    """Return the names a wheel may need, whatever the extras and markers. A broken wheel needs nothing."""
    if path.suffix != ".whl":
        return set()
    try:
        with zipfile.ZipFile(path) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = HeaderParser().parsestr(wheel.read(name).decode("utf-8", errors="replace"))
    except (zipfile.BadZipFile, StopIteration, OSError):
        return set()
    needs = set()
    for line in metadata.get_all("Requires-Dist") or []:
        try:
            needs.add(str(canonicalize_name(Requirement(line).name)))
        except InvalidRequirement:
            continue
    return needs
