"""Versions: whether an environment holds those that were asked for, and ranges of them as a person reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_BOUNDED = re.compile(r">=(?P<begin>[^,<>=!~]+)(?P<rest>,<(?P<end>[^,<>=!~]+))?")


def mismatches(expected: Iterable[tuple[str, str]], found: Mapping[str, str | None]) -> tuple[str, ...]:
    """Name every distribution whose version is not the expected one, one line each; empty when all agree.

    Post-releases and local builds count as their release: `1.7.0` is met by `1.7.0.post2` and by `1.7.0+cpu`.
    Extras (`keras[hdf5]`) are no part of a name.
    """
    present = {canonicalize_name(name): version for name, version in found.items() if version}
    lines = []
    for name, version in expected:
        got = present.get(canonicalize_name(name.partition("[")[0]))
        if got is None:
            lines.append(f"{name} {version} was asked for and is not there")
        elif not is_release(version, got):
            lines.append(f"{name} {version} was asked for, {got} is there")
    return tuple(lines)


def is_release(wanted: str, found: str) -> bool:
    """Whether `found` is the release `wanted`, one of its post-releases or a local build of either."""
    try:
        want, have = Version(wanted), Version(found)
    except InvalidVersion:
        return wanted == found
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
    """Join each range `>=A,<B` to the one before it, `>=B,<C`, which it ends at; other ranges stay as they are."""
    last = ""
    for text in ranges:
        upper, lower = _BOUNDED.fullmatch(text), _BOUNDED.fullmatch(last)
        if upper and lower and upper["end"] == lower["begin"]:
            last = f">={upper['begin']}{lower['rest'] or ''}"
            continue
        if last:
            yield last
        last = text
    if last:
        yield last
