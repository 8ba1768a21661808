"""The base of a delta, an earlier bundle whose layers and files the delta leaves out."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.manifest import MAX_MANIFEST_BYTES, Base, Manifest, read_manifest
from orchestrator.bundles.format.sources import BundleSource, open_source, read_whole
from orchestrator.errors import InputError


@dataclass(frozen=True, slots=True)
class BaseBundle:
    """An earlier bundle, or only its manifest."""

    manifest: Manifest
    identity: Base
    source: BundleSource | None
    """None if only the manifest is here."""

    def configs(self) -> Iterator[bytes]:
        """Give the configurations of those images that the source holds."""
        if self.source is not None:
            for image in self.manifest.images:
                path = layout.blob_path(image.config)
                if path in self.source.sizes:
                    yield read_whole(self.source, path, layout.MAX_IMAGE_DOCUMENT_BYTES)


def open_base(path: Path) -> BaseBundle:
    """Open the base that `--since` names, a bundle or the `manifest.json` of one.

    Raises `InputError` if the path is neither.
    """
    if path.is_file() and path.suffix == ".json":
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        return _base(content, str(path), None)
    source = open_source(path)
    place = f"{source.place}/{layout.MANIFEST}"
    return _base(read_whole(source, layout.MANIFEST, MAX_MANIFEST_BYTES), place, source)


def _base(content: bytes, place: str, source: BundleSource | None) -> BaseBundle:
    manifest = read_manifest(content, place)
    identity = Base(name=manifest.name, manifest_sha256=hashlib.sha256(content).hexdigest())
    return BaseBundle(manifest, identity, source)


def base_sources(identity: Base | None, place: Path) -> Iterator[BundleSource]:
    """Give the bundles that a delta at `place` builds on, nearest first.

    Only bundles in the same folder are searched.
    """
    while identity is not None and (base := _next_to(identity, place)) is not None:
        if base.source is not None:
            yield base.source
        identity = base.manifest.base


def _next_to(identity: Base, place: Path) -> BaseBundle | None:
    try:
        candidates = sorted(place.resolve().parent.iterdir())
    except OSError:
        return None
    for path in candidates:
        try:
            if path.suffix == ".tar" or (path / layout.MANIFEST).is_file():
                base = open_base(path)
                if base.identity.manifest_sha256 == identity.manifest_sha256:
                    return base
        except (InputError, OSError):
            continue  # not a readable bundle, so not the base
    return None


def missing_base_error(identity: Base | None, place: str, need: str) -> InputError:
    """Return the error of a delta at `place` whose base is not here.

    `need` says what the delta takes from its base, for example `data/x is in`. The error names the checksum too,
    because a bundle has the name of its matrix, which the delta may share.
    """
    named = (
        f"{identity.name} (its manifest.json has the SHA-256 {identity.manifest_sha256[:12]}…)"
        if identity
        else "before it"
    )
    return InputError(
        f"{place}: {need} the bundle {named}, which is not here; "
        f"load that bundle first, or put it into {Path(place).resolve().parent}"
    )
