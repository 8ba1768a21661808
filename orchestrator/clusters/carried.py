"""The files of a run for nodes that share no folder with the submitting host, carried in the batch script."""

import base64
import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from orchestrator.clusters.record import PART
from orchestrator.errors import InputError
from orchestrator.results.names import PARTS

_FOLDERS = ("models", "networks", "scripts")
_MATRIX = "matrix.yaml"


def packed(run: Path, parts: Iterable[str]) -> str:
    """Return the files of a run that its parts are measured from, as lines of base64. Equal files give equal text."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", mtime=0, compresslevel=9) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for path in _files(run, parts):
            member = tarfile.TarInfo(path.relative_to(run).as_posix())
            member.size, member.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                archive.addfile(member, file)
    return base64.encodebytes(content.getvalue()).decode("ascii")


def unpack(content: bytes, folder: Path) -> None:
    """Write the files of `packed`, from its decoded bytes, into a folder. Raises `InputError` if they are none."""
    try:
        files = gzip.decompress(content)  # as a whole, since a reader of the archive stops before the checksum
        with tarfile.open(fileobj=io.BytesIO(files), mode="r:") as archive:
            for member in archive:
                path, file = PurePosixPath(member.name), archive.extractfile(member)
                if file is None or path.is_absolute() or ".." in path.parts:
                    raise InputError(f"{member.name!r} is no input of a part")
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(file.read())
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"no inputs of a part: {error}; they come in a batch script of this program") from error


def _files(run: Path, parts: Iterable[str]) -> Iterator[Path]:
    yield run / _MATRIX
    for name in _FOLDERS:
        yield from sorted(path for path in (run / name).rglob("*") if path.is_file())
    for part in parts:
        yield run / PARTS / part / PART
