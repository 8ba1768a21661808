"""Runs of a far host, and files of results made by hand."""

import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zstandard

from orchestrator.bundles.returns.collect import collect
from orchestrator.bundles.returns.results_manifest import MANIFEST, SUMS, ResultsManifest, RunEntry, sums_line
from orchestrator.bundles.returns.results_tar import ArchiveWriter
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s

RUN = "20260102T030405Z-abcd"
OTHER = "20260102T040506Z-ef01"
HOST = {"hostname": "far", "cpu": "Far CPU", "cpus": 64, "memory_bytes": 10**11, "kernel": "5.14", "engine": "20.10"}


def a_run(results: Path, name: str = RUN, *, host: dict[str, Any] = HOST, rate: float = 1000.0) -> Run:
    """Write a run of one cell with two repeats, as `orchestrator run` does."""
    cell = s.cell(s.TORCH, repeats=2)
    plan = s.plan([cell])
    run = Run(results / name)
    run.write_record(s.record(plan).model_copy(update={"run": name, "host": host}))
    for item in s.ok(cell, [rate, rate * 1.01]):
        assert item.result is not None
        run.write_outcome(item.outcome)
        folder = run.repeat_folder(cell.id, item.outcome.repeat)
        (folder / "result.json").write_text(item.result.model_dump_json(by_alias=True))
        (folder / "log.txt").write_text(f"measured {item.outcome.repeat}\n")
    return run


def collected(path: Path, *runs: Run) -> Path:
    """Collect runs into a file."""
    collect(runs, path, "0.1.0")
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder except locks and marks."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {".lock", ".merge.lock", ".merged"}
    }


Entry = tuple[tarfile.TarInfo, bytes]


def entries(path: Path) -> list[Entry]:
    """Return the header and the bytes of every member of a file of results."""
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        return [(member, _bytes(archive, member)) for member in archive.getmembers()]


def _bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


def packed(members: Sequence[Entry]) -> bytes:
    """Return a file of any members, made by the standard library."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for header, data in members:
            archive.addfile(header, io.BytesIO(data) if header.isreg() else None)
    # Less padding than a tape would want: a reader of ours takes two blocks as the end.
    body = plain.getvalue().rstrip(b"\0")
    body += bytes(-len(body) % 512) + bytes(1024)
    return zstandard.ZstdCompressor().compress(body)


def honest(files: dict[str, bytes], record: RunRecord | None = None, **changes: Any) -> bytes:
    """Return a file of results with right checksums and counts for any files."""
    names = sorted({path.partition("/")[0] for path in files})
    host = record.host if record else HOST
    runs = [
        RunEntry(
            run=name,
            files=sum(path.startswith(f"{name}/") for path in files),
            size_bytes=sum(len(data) for path, data in files.items() if path.startswith(f"{name}/")),
            host=host,
        )
        for name in names
    ]
    manifest = ResultsManifest.model_construct(
        **{"schema_": 1, "orchestrator_version": "1", "runs": tuple(runs)} | changes
    )
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    text = json.dumps(manifest.model_dump(by_alias=True, warnings=False)).encode()
    sums = b"".join(sums_line(hashlib.sha256(files[path]).hexdigest(), path) for path in sorted(files))
    for path, data in ((MANIFEST, text), (SUMS, sums), *sorted(files.items())):
        writer.add(path, len(data), [data])
    writer.close()
    return stream.getvalue()
