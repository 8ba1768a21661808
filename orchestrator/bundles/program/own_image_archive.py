"""The archive of the orchestrator's own image, in a form that every engine reads."""

import gzip
import io
import json
import posixpath
import tarfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import docker

from orchestrator import __version__
from orchestrator.bundles.format.streams import CHUNK_BYTES, StoppableStream
from orchestrator.bundles.program.own_image import REPOSITORY
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError
from orchestrator.processes import Stop

_OLDER_FORMS = frozenset({"repositories", "VERSION", "json", "index.json", "oci-layout"})
"""Files of other forms of the image, which no engine since 1.10 needs."""


def cached(client: docker.DockerClient, reference: str, image_id: str, cache: Path, stop: Stop) -> Path:
    """Return the archive of an image from a cache of one archive, which is written if needed. Raises as `save` does."""
    archive = cache / f"{image_id.removeprefix('sha256:')}.tar.gz"
    if not archive.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        part = archive.with_suffix(".part")
        save(client, reference, part, stop)
        for older in cache.glob("*.tar.gz"):
            older.unlink()
        part.replace(archive)
    return archive


def save(client: docker.DockerClient, reference: str, path: Path, stop: Stop) -> None:
    """Write an image as a docker-archive with gzip. Equal images give equal bytes.

    Raises `HostError` if the engine does not save it, and `TransferStoppedError` after a request to stop.
    """
    try:
        with (
            transfer.saved(client, [reference]) as stream,
            path.open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed,
        ):
            _rewrite(StoppableStream(stream, stop), cast("BinaryIO", packed), reference)
    except (TransferError, tarfile.TarError, EOFError, KeyError, ValueError, *transfer.STREAM_ERRORS) as error:
        raise HostError(f"the engine did not save {reference}: {error}") from error


def _rewrite(stream: StoppableStream, out: BinaryIO, reference: str) -> None:
    links: dict[str, str] = {}
    manifest: list[dict[str, Any]] = []
    with (
        tarfile.open(fileobj=cast("BinaryIO", stream), mode="r|", bufsize=CHUNK_BYTES) as archive,
        tarfile.open(fileobj=out, mode="w|", bufsize=CHUNK_BYTES, format=tarfile.PAX_FORMAT) as rewritten,
    ):
        for member in archive:
            name = posixpath.normpath(member.name)
            if member.issym():
                links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), member.linkname))
            elif name == "manifest.json":
                manifest = json.loads(cast("BinaryIO", archive.extractfile(member)).read())
            elif member.isreg() and posixpath.basename(name) not in _OLDER_FORMS:
                _add(rewritten, name, member.size, cast("BinaryIO", archive.extractfile(member)))
            archive.members = []  # type: ignore[attr-defined]  # else it keeps every member in memory
        (entry,) = manifest
        # The engine writes a layer with two names as a file and a link. The archive has only the file.
        document = [{
            "Config": entry["Config"],
            "RepoTags": [f"{REPOSITORY}:{__version__}", reference],
            "Layers": [links.get(posixpath.normpath(name), name) for name in entry["Layers"]],
        }]  # fmt: skip
        content = json.dumps(document).encode()
        _add(rewritten, "manifest.json", len(content), io.BytesIO(content))


def _add(archive: tarfile.TarFile, name: str, size: int, file: BinaryIO) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = size
    archive.addfile(entry, file)
