"""A bundle as one tar, with the manifest first. Equal bundles give equal bytes."""

import os
import tarfile
from pathlib import Path

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import BaseBundle, open_base
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.errors import HostError, InputError, remedy

_FIRST = (layout.MANIFEST, layout.SIGNATURE, layout.SUMS, layout.INSTALL)


def check_replaceable(path: Path, base: BaseBundle | None) -> None:
    """Raise `InputError` if `write_tar` would replace anything but a bundle, or would replace the base."""
    if not os.path.lexists(path):
        return
    try:
        present = open_base(path)
    except InputError:
        raise InputError(f"{path}: is there already, and no bundle; move it elsewhere, or choose another -o") from None
    if base and base.identity == present.identity:
        raise InputError(f"{path}: is the bundle that --since names; choose another -o for what is new")


def write_tar(folder: Path, path: Path) -> Path:
    """Write `folder` as `path`, whole or not at all. Raises `HostError` if it cannot be written."""
    source = FolderSource(folder)
    rank = {name: number for number, name in enumerate(_FIRST)}
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
                for name in sorted(source.sizes, key=lambda name: (rank.get(name, len(rank)), name)):
                    entry = tarfile.TarInfo(f"{folder.resolve().name}/{name}")
                    entry.size = source.sizes[name]
                    entry.mode = 0o755 if name == layout.INSTALL else 0o644
                    with source.open(name) as content:
                        archive.addfile(entry, content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise HostError(f"{path}: cannot be written: {error.strerror}; {remedy(error, '-o')}") from error
    return path
