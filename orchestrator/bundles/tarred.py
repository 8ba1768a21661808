"""A bundle as one tar: equal bundles give equal bytes, and the manifest comes first."""

import os
import tarfile
from pathlib import Path

from orchestrator.bundles import layout
from orchestrator.bundles.earlier import Earlier, open_earlier
from orchestrator.bundles.sources import FolderSource
from orchestrator.errors import HostError, InputError, remedy

_FIRST = (layout.MANIFEST, layout.SIGNATURE, layout.SUMS, layout.INSTALL)


def refuse_foreign(path: Path, earlier: Earlier | None) -> None:
    """Raise `InputError` where what `write_tar` would replace is no bundle, or the one that `earlier` is."""
    if not os.path.lexists(path):
        return
    try:
        there = open_earlier(path)
    except InputError:
        raise InputError(f"{path}: is there already, and no bundle; move it elsewhere, or choose another -o") from None
    if earlier and earlier.base == there.base:
        raise InputError(f"{path}: is the bundle that --since names; choose another -o for what is new")


def write_tar(folder: Path, path: Path) -> Path:
    """Write `folder` as `path`, whole or not at all; raises `HostError` where it cannot be written."""
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
