"""The host's own records of a run, `run.json` with its plan and `environments.json`."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from orchestrator.domain import Plan, Status
from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.planning.bounds import plan as bounds
from orchestrator.results.contract import SCHEMA, Count, Finite, Strict
from orchestrator.results.files.remembered import Remembered
from orchestrator.results.names import PARTS

_PLAN = TypeAdapter(Plan)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain JSON values, which `plan_from_json` reads back equal."""
    document: dict[str, Any] = _PLAN.dump_python(plan, mode="json")
    return document


def plan_from_json(document: dict[str, Any]) -> Plan:
    """Read a plan from JSON of any origin. Raises `InputError` if it is no plan."""
    try:
        plan = _PLAN.validate_python(document)
    except (ValidationError, OverflowError) as error:
        if isinstance(error, OverflowError):
            raise InputError("the stored plan is not readable: it has a number that no computer can hold") from error
        raise InputError(f"the stored plan is not readable: {first_problem(error)}") from error
    bounds.check(plan, "the stored plan is not readable: ")
    return plan


class BundleOrigin(Strict):
    """The bundle that a plan was carried in."""

    name: str
    manifest_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Of its `manifest.json`, which names every image by content."""


class ProvedWith(Strict):
    """The measurement by which the cells of a run went side by side on different GPUs."""

    cell: str
    """The one that was measured beside others and alone."""
    ratio: Finite
    """Its throughput beside others over that alone, with the 95 % interval."""
    low: Finite
    high: Finite
    cpu_cores: Finite | None = None
    """The cores that it kept busy beside others; None if that is not known."""


class ImagesOrigin(Strict):
    """The place that images come from, where the engine lacks them."""

    kind: Literal["build", "registry", "bundle"]
    place: str = ""
    """The file of pushed images, or the bundle; empty for images that are built."""


PartPlace = Annotated[str, Field(pattern=rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,127}}/{PARTS}/[0-9]{{1,9}}$")]


class RunRecord(Strict):
    """`run.json`: what was planned and where it ran."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    run: str
    """Sortable name of the run's folder: `20261121T153000Z-1f3a`."""
    created_at: str
    orchestrator_version: str
    runtime: str
    """`docker`, `venv` or `host`."""
    host: dict[str, Any]
    plan: dict[str, Any]
    matrix: dict[str, Any]
    """The long form, build settings without credentials."""
    bundle: BundleOrigin | None = None
    """The origin of plan and images; None if the plan was made on this host."""
    images: ImagesOrigin | None = None
    """The origin of images; None without containers, and in older records."""
    part_of: PartPlace | None = None
    """The part of a run on a cluster that it comes back to in a file: `20261121T153000Z-1f3a/parts/003`."""
    proved_with: Annotated[ProvedWith | None, Field(exclude_if=lambda proof: proof is None)] = None
    """The proof of this host when the run began; None if its cells run one after the other."""


class EnvironmentRecord(Strict):
    """The content of one environment, or the reason that there is none."""

    image: str
    """`ImageSpec.name`."""
    status: Status
    """`ok`, or how its making ended."""
    reason: str = ""
    """One line; empty only when `ok`."""
    reference: str | None = None
    """The launcher of cells: the image's content tag, or the path of an interpreter."""
    image_id: str | None = None
    base_digest: str | None = None
    """`name@sha256:…` of the base image, or its id where it came from no registry; None where there is no image."""
    size_bytes: Count | None = None
    """Of the image, with all that it stands on; None where there is none, and in older records."""
    seccomp: str | None = None
    """Profile of system calls of its containers, with its SHA-256; None without one, and in older records."""
    versions: dict[str, str] = {}  # noqa: RUF012 -- pydantic copies it
    """Distributions it holds, as it was asked."""
    log: str | None = None
    """Of a making that failed, relative to the run's folder."""


class EnvironmentsRecord(Strict):
    """`environments.json`: every environment that the run asked for; two of one image where it was made again."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    environments: tuple[EnvironmentRecord, ...] = ()

    def merged(self, later: Sequence[EnvironmentRecord]) -> "EnvironmentsRecord":
        """Add later entries. Entries that are equal or failed are replaced."""
        again = {entry.image for entry in later}
        remaining = [entry for entry in self.environments if entry.status is Status.OK or entry.image not in again]
        by_content = {
            (entry.image, entry.reference, entry.image_id, entry.seccomp): entry for entry in (*remaining, *later)
        }
        return EnvironmentsRecord(environments=tuple(by_content.values()))


_Document = TypeVar("_Document", RunRecord, EnvironmentsRecord)
_T = TypeVar("_T")


def read_run_record(path: Path) -> RunRecord:
    """Read a `run.json`. Raises `InputError` if it is missing, broken or newer than this program."""
    return _read_run(path, _run_record)


def read_plan(path: Path) -> Plan:
    """Read the plan of a `run.json`. Raises as `read_run_record` does."""
    return _read_run(path, _plan)


def read_environments(path: Path) -> EnvironmentsRecord:
    """Read an `environments.json`, empty if it is missing. Raises `InputError` if it is broken or newer."""
    try:
        return _read(path, "a record of environments", lambda content: _parsed(content, EnvironmentsRecord))
    except FileNotFoundError:
        return EnvironmentsRecord()


class _NewerSchemaError(Exception):
    """A record of a later version of this program."""


def _parsed(content: bytes, kind: type[_Document]) -> _Document:
    document = json.loads(content)
    schema = document.get("schema", 0)
    if schema > SCHEMA:
        raise _NewerSchemaError(f"schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
    return kind.model_validate(document)


@Remembered
def _run_record(content: bytes) -> RunRecord:
    return _parsed(content, RunRecord)


@Remembered
def _plan(content: bytes) -> Plan:
    return plan_from_json(_run_record(content).plan)


def _read_run(path: Path, parse: Callable[[bytes], _T]) -> _T:
    try:
        return _read(path, "a run record", parse)
    except FileNotFoundError:
        raise InputError(f"{path}: no such run; `orchestrator runs` lists what there is") from None


def _read(path: Path, called: str, parse: Callable[[bytes], _T]) -> _T:
    """Parse one of the host's own files. Raises `FileNotFoundError`, or `InputError` with its path."""
    try:
        return parse(read_record(path))
    except FileNotFoundError:
        raise
    except _NewerSchemaError as error:
        raise InputError(f"{path}: {error}") from error
    except ValidationError as error:
        raise InputError(f"{path}: not {called}: {first_problem(error)}") from error
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: not {called}: {str(error).splitlines()[0]}") from error
