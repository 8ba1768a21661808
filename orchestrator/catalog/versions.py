"""Checks of the versions that an environment holds, and ranges of versions as a person reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_BOUNDED = re.compile(r">=(?P<begin>[^,<>=!~]+)(?P<rest>,<(?P<end>[^,<>=!~]+))?")


def mismatches(expected: Iterable[tuple[str, str]], installed: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return a line for every distribution whose version is not the expected one.

    Post-releases and local builds count as their release: `1.7.0` is met by `1.7.0.post2` and by `1.7.0+cpu`.
    Extras (`keras[hdf5]`) are no part of a name.
    """
    present = {canonicalize_name(name): version for name, version in installed.items() if version}
    lines = []
    for name, version in expected:
        actual = present.get(canonicalize_name(name.partition("[")[0]))
        if actual is None:
            lines.append(f"{name} {version} was asked for and is not there")
        elif not is_release(version, actual):
            lines.append(f"{name} {version} was asked for, {actual} is there")
    return tuple(lines)


def is_release(wanted: str, actual: str) -> bool:
    """Return true if `actual` is the release `wanted`, one of its post-releases or a local build of either."""
    try:
        want, have = Version(wanted), Version(actual)
    except InvalidVersion:
        return wanted == actual
    if want.local is not None and want.local != have.local:
        return False
    if want.post is not None and want.post != have.post:
        return False
    return _without_post_and_local(want) == _without_post_and_local(have)


def _without_post_and_local(version: Version) -> tuple[object, ...]:
    release = version.release
    while len(release) > 1 and release[-1] == 0:
        release = release[:-1]
    return version.epoch, release, version.pre, version.dev


def united(ranges: Iterable[str]) -> Iterator[str]:
    """Join each range `>=A,<B` to the range `>=B,<C` before it, and leave other ranges as they are.

    A range that lies within a later one is left out.
    """
    last = ""
    for text in _outermost(tuple(ranges)):
        upper, lower = _BOUNDED.fullmatch(text), _BOUNDED.fullmatch(last)
        if upper and lower and upper["end"] == lower["begin"]:
            last = f">={upper['begin']}{lower['rest'] or ''}"
            continue
        if last:
            yield last
        last = text
    if last:
        yield last


def _outermost(ranges: Sequence[str]) -> Iterator[str]:
    """Yield the ranges that lie within no later one."""
    for number, text in enumerate(ranges):
        if not any(_is_within(text, later) for later in ranges[number + 1 :]):
            yield text


def _is_within(text: str, other: str) -> bool:
    """Return true if a range `>=A,<B` lies within another one of that form."""
    inner, outer = _BOUNDED.fullmatch(text), _BOUNDED.fullmatch(other)
    if not inner or not outer or not inner["end"] or not outer["end"]:
        return False
    begins = Version(outer["begin"]) <= Version(inner["begin"])
    return begins and Version(inner["end"]) <= Version(outer["end"])
