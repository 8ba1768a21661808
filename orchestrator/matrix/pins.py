"""Pins of a framework and, with Keras, of its backend: `keras-mxnet==2.2.4.3 on mxnet==1.5.1`."""

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
    """A framework's name with a range of versions (empty: any), and the same of what it runs on."""

    name: str
    versions: str = ""
    """As written: `==1.9.1`, `>=1.5,<1.6`."""
    backend: "Pin | None" = None

    @property
    def version(self) -> str | None:
        """The one version that `==` names; None for a range."""
        match = re.fullmatch(r"==\s*([^,*=\s]+)", self.versions)
        return match[1] if match else None

    def holds(self, framework: Framework) -> bool:
        """Whether a framework is one that the pin speaks of."""
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
        # The tag of the user's own image need not be a version.
        return True
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return False


def release(version: str) -> Version | str:
    """What spellings of one release share: `1.0` is `1`; the text itself where it is no version, as with a tag."""
    try:
        return Version(version)
    except InvalidVersion:
        return version


def pinned(text: str) -> tuple[str, Version | str]:
    """What spellings of one pin of a backend share; raises `ValueError` where it is no pin."""
    pin = parse(text)
    return pin.name, release(pin.version or pin.versions)


def parse(text: str) -> Pin:
    """Read a pin; raises `ValueError` with a sentence for people."""
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
