"""Build contexts, as one reproducible tar stream of files and as their hash."""

import hashlib
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docker.utils.build import Pattern, exclude_paths

from orchestrator.errors import InputError

_EPOCH_S = 315_532_800  # 1980-01-01: equal content makes equal layers, and zip archives know no earlier time
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file of a context, with its content or its path on this host."""

    name: str
    content: bytes | Path
    mode: int = 0o644

    def read(self) -> bytes:
        """All of its content."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()


def source_files(folder: Path, below: str) -> tuple[ContextFile, ...]:
    """Every file of a Python package by name, without what interpreters and editors leave behind."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and _is_source(path.relative_to(folder)))
    return tuple(ContextFile(f"{below}/{path.relative_to(folder).as_posix()}", path.read_bytes()) for path in paths)


def _is_source(path: Path) -> bool:
    return path.suffix not in {".pyc", ".pyo"} and not any(
        part == "__pycache__" or part.startswith(".") for part in path.parts
    )


def folder_files(dockerfile: Path) -> tuple[ContextFile, ...]:
    """Return the context of the user's own Dockerfile.

    It is the folder as `docker build` would send it, with `.dockerignore` honoured.

    Raises `InputError` where the Dockerfile cannot be read, a link in its folder leads out of it, or a line of
    `.dockerignore` is no pattern.
    """
    folder = dockerfile.parent
    ignore = folder / ".dockerignore"
    try:
        text = dockerfile.read_bytes()
        patterns = list(_patterns(ignore)) if ignore.is_file() else []
        names = sorted(exclude_paths(str(folder), patterns, dockerfile=dockerfile.name))
        paths = [(name, folder / name) for name in names]
        for _, path in paths:
            if path.is_file() and not path.resolve().is_relative_to(folder.resolve()):
                raise InputError(f"{path}: leads out of the build context through a link; copy the file there instead")
        files = tuple(
            ContextFile(name, path.read_bytes(), path.stat().st_mode & 0o777)
            for name, path in paths
            if path.is_file() and name not in {dockerfile.name, "Dockerfile"}
        )
    except OSError as error:
        raise InputError(f"{dockerfile}: cannot be built from: {error.strerror}: {error.filename}") from error
    return (ContextFile("Dockerfile", text), *files)


def _patterns(ignore: Path) -> Iterator[str]:
    # Names of files may be any bytes, and patterns mean names.
    lines = ignore.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        try:
            Pattern(line).match("")
        except re.error as error:
            raise InputError(f"{ignore}:{number}: {line!r} is no pattern: {error}") from None
        yield line


def digest(files: Iterable[ContextFile]) -> str:
    """Hash names, modes and contents in order of name, as hexadecimal SHA-256."""
    total = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        inner = hashlib.sha256()
        for chunk in _chunks(file.content):
            inner.update(chunk)
        total.update(f"{file.name}\0{file.mode:o}\0{inner.hexdigest()}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def tar(files: Iterable[ContextFile]) -> Iterator[bytes]:
    """Yield the files as a tar archive, piece by piece.

    A wheel of gigabytes is never in memory as a whole.
    """
    for file in files:
        info = tarfile.TarInfo(file.name)
        info.mode, info.mtime = file.mode, _EPOCH_S
        info.size = len(file.content) if isinstance(file.content, bytes) else file.content.stat().st_size
        yield info.tobuf(tarfile.PAX_FORMAT)
        yield from _chunks(file.content)
        yield bytes(-info.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        if content:
            yield content
        return
    with content.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk
