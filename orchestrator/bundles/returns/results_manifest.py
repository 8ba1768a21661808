"""The first two members of a file of results, its manifest of runs and the checksums of its files."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.bundles.format import layout
from orchestrator.bundles.returns.results_tar import BrokenArchiveError, printable
from orchestrator.errors import plain_words
from orchestrator.results.records import PartPlace

SCHEMA: Literal[1] = 1
KIND: Literal["framework-bench results"] = "framework-bench results"
MANIFEST = layout.MANIFEST
SUMS = layout.SUMS
MOST_MANIFEST_BYTES = 64 * 1024 * 1024
MERGED = ".merged"
"""Mark of a run from another host, into which this host writes no measurements. It is not carried further."""
RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LINE = re.compile(rb"([0-9a-f]{64})  (.{1,4096})\n")
MOST_LINE_BYTES = 4096
Count = Annotated[int, Field(ge=0, le=2**60)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)


class RunEntry(_Strict):
    """One run of a file of results."""

    run: str
    files: Count
    size_bytes: Count
    host: dict[str, Any]
    """The measuring host, from `run.json`."""
    part_of: PartPlace | None = None
    """The part of a run on a cluster that it belongs to, from `run.json`; only where there is one."""


class ResultsManifest(_Strict):
    """The `manifest.json` of a file of results."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    kind: Literal["framework-bench results"] = KIND
    orchestrator_version: str
    """Version that collected the runs."""
    runs: tuple[RunEntry, ...]
    """In order of name."""

    @property
    def size_bytes(self) -> int:
        """The size of all files of all runs."""
        return sum(run.size_bytes for run in self.runs)

    @property
    def files(self) -> int:
        """The number of files of all runs."""
        return sum(run.files for run in self.runs)


def manifest_text(manifest: ResultsManifest) -> bytes:
    """Return the bytes of a manifest."""
    parts = [number for number, run in enumerate(manifest.runs) if run.part_of is None]
    # Earlier versions read no file with a field that they do not know.
    unknown = {"runs": {number: {"part_of"} for number in parts}} if parts else None
    return manifest.model_dump_json(by_alias=True, indent=1, exclude=unknown).encode() + b"\n"


def read_manifest(text: bytes) -> ResultsManifest:
    """Read a manifest. Raises `BrokenArchiveError` if it is invalid, or newer than this program."""
    try:
        manifest = ResultsManifest.model_validate_json(text)
    except (ValidationError, RecursionError) as error:
        raise BrokenArchiveError(_unreadable_reason(text, error)) from None
    names = [run.run for run in manifest.runs]
    if not names or names != sorted(set(names)):
        raise BrokenArchiveError("its manifest names no runs, or not each once and in order")
    for name in names:
        if not RUN_NAME.fullmatch(name):
            raise BrokenArchiveError(f"{printable(name)} is no name of a run")
    return manifest


class _Outline(BaseModel):
    """The fields that a manifest of any schema has."""

    kind: str = ""
    schema_: int = Field(0, alias="schema")


def _unreadable_reason(text: bytes, error: Exception) -> str:
    try:
        outline = _Outline.model_validate_json(text)
    except (ValidationError, RecursionError):
        return "its manifest cannot be read"
    if outline.kind != KIND:
        return (
            f"it is no file of results, but {printable(outline.kind)}" if outline.kind else "it is no file of results"
        )
    if outline.schema_ > SCHEMA:
        return f"its schema {outline.schema_} is newer than this orchestrator reads ({SCHEMA}): upgrade it"
    first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
    field = ".".join(str(part) for part in first["loc"]) if first else ""
    return (
        f"its manifest cannot be read: {field}: {plain_words(first['msg'])}" if first else "its manifest cannot be read"
    )


def sums_line(digest: str, path: str) -> bytes:
    """Return one line of `SHA256SUMS`, as `sha256sum --check` reads it."""
    return f"{digest}  {path}\n".encode()


def read_sums_line(line: bytes) -> tuple[str, str]:
    """Return the digest and the path of a line. Raises `BrokenArchiveError` if either is invalid."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise BrokenArchiveError(f"{SUMS} has a line that is none")
    path = match[2].decode("utf-8", "surrogateescape")
    problem = layout.problem_of_path(path)
    if problem:
        raise BrokenArchiveError(f"{printable(path)} in it {problem}")
    return match[1].decode(), path
