"""The bundle that a delta builds on: what it holds need not be carried again."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.bundles import layout
from orchestrator.bundles.manifest import MAX_MANIFEST_BYTES, Base, Manifest, read_manifest
from orchestrator.bundles.sources import Source, open_source, read_whole
from orchestrator.errors import InputError

MAX_CONFIG_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier bundle, or its manifest alone."""

    manifest: Manifest
    base: Base
    source: Source | None
    """None where only the manifest is here."""

    def configs(self) -> Iterator[bytes]:
        """The configurations of its images, as far as they are here."""
        if self.source is not None:
            for image in self.manifest.images:
                if layout.blob(image.config) in self.source.sizes:
                    yield read_whole(self.source, layout.blob(image.config), MAX_CONFIG_BYTES)


def open_earlier(path: Path) -> Earlier:
    """Open what `--since` names: a bundle, or the `manifest.json` of one; raises `InputError` where it is neither."""
    if path.is_file() and path.suffix == ".json":
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        return _earlier(content, str(path), None)
    source = open_source(path)
    place = f"{source.place}/{layout.MANIFEST}"
    return _earlier(read_whole(source, layout.MANIFEST, MAX_MANIFEST_BYTES), place, source)


def _earlier(content: bytes, place: str, source: Source | None) -> Earlier:
    manifest = read_manifest(content, place)
    base = Base(name=manifest.name, manifest_sha256=hashlib.sha256(content).hexdigest())
    return Earlier(manifest, base, source)


def sources_beside(base: Base | None, place: Path) -> Iterator[Source]:
    """The bundles that a delta at `place` builds on, the nearest first, as far as they lie in the same folder."""
    while base is not None and (found := _find(base, place)) is not None:
        if found.source is not None:
            yield found.source
        base = found.manifest.base


def _find(base: Base, place: Path) -> Earlier | None:
    try:
        beside = sorted(place.resolve().parent.iterdir())
    except OSError:
        return None
    for path in beside:
        try:
            if path.suffix == ".tar" or (path / layout.MANIFEST).is_file():
                found = open_earlier(path)
                if found.base.manifest_sha256 == base.manifest_sha256:
                    return found
        except (InputError, OSError):
            continue  # whatever it is, it is not what is looked for
    return None


def missing(base: Base | None, place: str, what: str) -> InputError:
    """The error of a delta at `place`; `what` says what it needs of a bundle which is not here: `data/x is in`.

    A bundle has the name of its matrix, which may be that of the delta too: its sum tells them apart.
    """
    named = f"{base.name} (its manifest.json has the SHA-256 {base.manifest_sha256[:12]}…)" if base else "before it"
    return InputError(
        f"{place}: {what} the bundle {named}, which is not here; "
        f"load that bundle first, or put it into {Path(place).resolve().parent}"
    )
