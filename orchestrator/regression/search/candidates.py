"""The releases of a search, published between two sides that differ in one release."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.errors import InputError
from orchestrator.matrix import Matrix
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.search.record_parts import LeftOut
from orchestrator.regression.sides import Side

START = "as before"
"""Name of the stage at which nothing has moved."""


@dataclass(frozen=True, slots=True)
class SearchSubject:
    """The subject of a search, a framework or one package beside it."""

    good: Side
    bad: Side
    distribution: str
    is_package: bool
    """True if it is a package that both sides pin beside a framework."""

    @property
    def is_framework(self) -> bool:
        """Return true if releases of a framework are searched, and not those of any package."""
        return not self.is_package and not self.good.is_package

    @property
    def ends(self) -> tuple[str, str]:
        """Return the two releases at the ends."""
        return _version(self.good, self.package), _version(self.bad, self.package)

    @property
    def package(self) -> str:
        """Return the package beside the framework, or an empty text if the framework is searched."""
        return self.distribution if self.is_package else ""

    def side(self, version: str) -> Side:
        """Return the good side with another release of the subject."""
        if not self.is_package:
            return replace(self.good, version=version)
        packages = dict(self.good.packages) | {self.distribution: version}
        return replace(self.good, packages=tuple(sorted(packages.items())))


def search_subject(good: Side, bad: Side, distribution: str) -> SearchSubject:
    """Return the one release that two sides differ in. Raises `InputError` if it is not one."""
    one, other = dict(good.packages), dict(bad.packages)
    differing = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    if (good.name, good.backend) == (bad.name, bad.backend):
        if good.version != bad.version and not differing:
            return SearchSubject(good, bad, str(canonicalize_name(distribution)), is_package=False)
        if good.version == bad.version and len(differing) == 1 and differing[0] in one.keys() & other.keys():
            return SearchSubject(good, bad, differing[0], is_package=True)
    if good.text == bad.text:
        raise InputError(f"--good and --bad are both {good.text}: there is nothing between them")
    raise InputError(
        f"--good {good.text} and --bad {bad.text} must differ in one release alone: of the framework, or of one "
        "package that both name"
    )


def own_releases(matrix: Matrix, subject: SearchSubject) -> tuple[str, ...] | None:
    """Return the releases that are images of the user's own, in the order of the matrix, or None."""
    entries = [axes for axes in matrix.frameworks if axes.name == subject.good.name and (axes.image or axes.dockerfile)]
    versions = [version for axes in entries for version in axes.versions]
    first, last = subject.ends
    if not subject.is_framework or (first not in versions and last not in versions):
        return None
    missing = [end for end in (first, last) if end not in versions]
    if missing:
        raise InputError(
            f"{matrix.path}: frameworks: {subject.good.name} {missing[0]} has no image of its own there, and the other "
            "end has: nothing says which releases lie between"
        )
    start, end = versions.index(first), versions.index(last)
    if start > end:
        raise InputError(f"{matrix.path}: frameworks: {last} stands before {first}; releases are searched in its order")
    return tuple(versions[start : end + 1])


@dataclass(frozen=True, slots=True)
class ReleaseFilter:
    """The filter of published releases."""

    prereleases: bool
    yanked: bool
    unsupported_reason: Callable[[Side], str | None]
    """Returns the reason a side cannot be planned, or None."""


def between(
    subject: SearchSubject, offered: Sequence[PublishedRelease], wanted: ReleaseFilter
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the releases from good to bad, and those between that are left out.

    A framework's pin takes its post-releases, so that 1.7.0.post2 is 1.7.0 here; a package's is taken literally.
    Raises `InputError` where the ends are not in order.
    """
    ends = [_parsed(subject, end) for end in subject.ends]
    if ends[0] >= ends[1]:
        raise InputError(f"--good {subject.ends[0]} is not older than --bad {subject.ends[1]}: exchange them")
    versions, left_out = [], []
    for name, release in _named(subject, offered).items():
        if not ends[0] < Version(name) < ends[1]:
            continue
        reason = _left_out(release, wanted) or wanted.unsupported_reason(subject.side(name))
        if reason:
            left_out.append(LeftOut(release=name, reason=reason))
        else:
            versions.append(name)
    return (subject.ends[0], *sorted(versions, key=Version), subject.ends[1]), tuple(left_out)


def _named(subject: SearchSubject, offered: Sequence[PublishedRelease]) -> Mapping[str, PublishedRelease]:
    """Return releases by the version a side names them with. Of several behind one pin, one that is not yanked."""
    by_name: dict[str, PublishedRelease] = {}
    for release in offered:
        version = Version(release.version)
        name = release.version
        if subject.is_framework and version.post is not None and not version.is_prerelease:
            name = version.base_version
        if name not in by_name or by_name[name].yanked is not None:
            by_name[name] = release
    return by_name


def _left_out(release: PublishedRelease, wanted: ReleaseFilter) -> str:
    if release.is_prerelease and not wanted.prereleases:
        return "a pre-release (--prereleases searches them too)"
    if release.yanked is not None and not wanted.yanked:
        why = f": {release.yanked}" if release.yanked else ""
        return f"yanked{why} (--yanked searches them too)"
    return ""


def _parsed(subject: SearchSubject, version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        raise InputError(
            f"{subject.distribution} {version}: is no version that a package index orders; give good and bad an "
            "image or dockerfile each in the matrix, which orders them"
        ) from None


def _version(side: Side, package: str) -> str:
    return dict(side.packages)[package] if package else side.version


def reasons(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """Yield the releases left out, a line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for each in left_out:
        by_reason.setdefault(each.reason, []).append(each.release)
    for reason, names in by_reason.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"not searched: {', '.join(names[:3])}{more}: {reason}"


@dataclass(frozen=True, slots=True)
class Move:
    """A package that two environments hold in different versions."""

    package: str
    before: str | None
    """None if only the later environment has it."""
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.package} {self.after} added"
        if self.after is None:
            return f"{self.package} {self.before} removed"
        return f"{self.package} {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Stage:
    """An environment on the way from one neighbour to the other."""

    name: str
    """Unique among the stages of a way; what `search` takes as a release."""
    packages: Mapping[str, str]
    moved: Move | None
    """The move from the stage before; None for the first."""


def stages(before: Mapping[str, str], after: Mapping[str, str], *, last: str) -> tuple[Stage, ...]:
    """Go from one environment to the other, one package at a time in the order of their names, `last` at the end.

    Versions by package. `search` over the names of the stages then tells which move changed it, all others held; what
    an installer refuses on the way is untestable, and stepped over. A single stage where nothing moved.
    """
    names = sorted(before.keys() | after.keys(), key=lambda name: (name == last, name))
    steps = [Stage(START, dict(before), None)]
    for name in names:
        if before.get(name) == after.get(name):
            continue
        move = Move(name, before.get(name), after.get(name))
        packages = {each: version for each, version in steps[-1].packages.items() if each != name}
        if move.after is not None:
            packages[name] = move.after
        steps.append(Stage(str(move), packages, move))
    return tuple(steps)
