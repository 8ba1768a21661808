"""Pins of a framework, and of its backend for Keras.

An example is `keras-mxnet==2.2.4.3 on mxnet==1.5.1`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from orchestrator.domain import Framework

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?P<range>(?:[=<>!~]=?|===)\s*\S.*?)?", re.ASCII)
_ON = re.compile(r"\s+on\s+")


@dataclass(frozen=True, slots=True)
class Pin:
    """The name of a framework with a range of versions, and the same of its backend if it has one."""

    name: str
    versions: str = ""
    """The range as written, such as `==1.9.1` or `>=1.5,<1.6`; empty for any version."""
    backend: "Pin | None" = None

    @property
    def version(self) -> str | None:
        """Return the single version that `==` names, or None for a range."""
        match = re.fullmatch(r"==\s*([^,*=\s]+)", self.versions)
        return match[1] if match else None

    def holds(self, framework: Framework) -> bool:
        """Return true if the pin covers a framework."""
        if framework.name != self.name or not _within(framework.version, self.versions):
            return False
        if self.backend is None:
            return True
        return framework.backend is not None and self.backend.holds(framework.backend)


@lru_cache(maxsize=4096)
def _within(version: str, versions: str) -> bool:
    if not versions:
        return True
    if versions.replace(" ", "") == f"=={version}":
        # The version may be the tag of the user's own image, which need not be a version.
        return True
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return False


def release(version: str) -> Version | str:
    """Return a value that all spellings of one release share, as `1.0` and `1` do.

    A text that is no version, such as a tag, is returned as it is.
    """
    try:
        return Version(version)
    except InvalidVersion:
        return version


def pinned(text: str) -> tuple[str, Version | str]:
    """Return a value that all spellings of a backend's pin share, or raise `ValueError` for a text that is no pin."""
    pin = parse(text)
    return pin.name, release(pin.version or pin.versions)


def parse(text: str) -> Pin:
    """Read a pin, or raise `ValueError` with a sentence for people."""
    parts = _ON.split(text.strip())
    if len(parts) > 2:
        raise ValueError(f"{text!r} names more than one backend")
    pin = _parse_one(parts[0], text)
    return Pin(pin.name, pin.versions, _parse_one(parts[1], text)) if len(parts) == 2 else pin


def _parse_one(part: str, text: str) -> Pin:
    match = _PIN.fullmatch(part)
    if match is None:
        raise ValueError(f"{text!r} is no pin such as 'mxnet==1.9.1' or 'keras-mxnet==2.2.4.3 on mxnet==1.5.1'")
    versions = (match["range"] or "").strip()
    if versions and Pin(match["name"], versions).version is None:
        try:
            SpecifierSet(versions)
        except InvalidSpecifier:
            raise ValueError(f"{versions!r} in {text!r} is no range of versions such as '==1.9.1' or '<2'") from None
    return Pin(match["name"], versions)
