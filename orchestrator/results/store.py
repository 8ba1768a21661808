"""One folder per run, one per cell and repeat; every file is written beside and renamed, and none is deleted."""

import contextlib
import errno
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.errors import HostError, InputError, host_error, remedy
from orchestrator.files import move_aside, open_plain, read_record
from orchestrator.results.contract import (
    SCHEMA,
    EnvironmentRecord,
    EnvironmentsRecord,
    Request,
    Result,
    RunRecord,
)
from orchestrator.results.locks import locked
from orchestrator.results.pending import pending
from orchestrator.results.plans import first_problem, plan_from_json
from orchestrator.results.scripts.contract import ScriptResult

MAX_RESULT_BYTES = 64 * 1024 * 1024
MAX_RESULT_VALUES = 4_000_000
"""More than a day of blocks has; each takes a hundred bytes of memory, however few it takes in the file."""
MAX_OUTCOME_BYTES = 1024 * 1024
NO_FILES: Mapping[str, str] = {}
PRIVATE = 0o700
"""The rights on a run's folder: what was measured may leave anything in it, programs of this user's too."""
_MOST = 2**53
_OUTCOME = TypeAdapter(Outcome)
OUTCOME_FIELDS = tuple(field.name for field in fields(Outcome))
OUTCOME_VALUES: Callable[[Outcome], tuple[Any, ...]] = attrgetter(*OUTCOME_FIELDS)
"""All fields of an outcome, in their order; `dataclasses.astuple` copies each, which takes most of an index's time."""
_Answer = TypeVar("_Answer", bound=BaseModel)
_Record = TypeVar("_Record", RunRecord, EnvironmentsRecord)


class InvalidResultError(ValueError):
    """A container's answer that is not what the contract says; the message is one line."""


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader, or a power cut, sees the old file or the new one, never a part.

    Raises `HostError` where that cannot be done.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        # What was measured can write into its own folder: a link it has planted there must not be followed.
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 -- a descriptor, not a path
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
            _synchronise(path.parent)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise host_error(f"{path}: cannot be written: {error.strerror}; {remedy(error)}", error) from error


def write_request(folder: Path, request: Request, files: Mapping[str, str] = NO_FILES) -> None:
    """Write what a container is asked, last of all, and beside it the files that the request names."""
    asked = {"request.json": request.model_dump_json(by_alias=True, indent=1) + "\n"}
    for name, text in {**files, **asked}.items():
        _write_over(folder / name, text)


def write_end(folder: Path, text: str, *, of_result: bool) -> None:
    """Write `outcome.json` into a folder that a container has written to; `of_result` says that its result counts.

    Raises `HostError` where that cannot be done.
    """
    if of_result:
        # A power cut must not leave an outcome whose result is not on disk.
        _synchronise(folder / "result.json")
    _write_over(folder / "outcome.json", text)


def _synchronise(path: Path) -> None:
    """Have a file's content, or the names in a folder, on disk; some network file systems do not offer that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _folder(path: Path, rights: int = 0o777) -> Path:
    """Make a folder with all above it; raises `HostError` where that cannot be done."""
    try:
        path.mkdir(rights, parents=True, exist_ok=True)
    except OSError as error:
        raise host_error(f"{path}: cannot be made: {error.strerror}; choose another --results", error) from error
    return path


def _write_over(path: Path, text: str) -> None:
    """Write a file, and move aside a folder that what was measured has put in its place; nothing in it is lost.

    Raises `HostError` where that cannot be done.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            move_aside(path)
    except OSError as error:
        raise host_error(f"{path}: what is in its place cannot be moved aside: {error.strerror}", error) from error
    write_atomically(path, text)


def read_result(path: Path | str) -> Result:
    """Read and check what a measurement answered; raises as `read_answer` does."""
    return read_answer(path, Result)


def read_answer(path: Path | str, kind: type[_Answer]) -> _Answer:
    """Read and check a container's `result.json`, which is to be of this kind.

    Raises `InvalidResultError` with one line that says what is wrong.
    """
    try:
        with open_plain(path) as file:
            if os.fstat(file.fileno()).st_size > MAX_RESULT_BYTES:
                raise InvalidResultError(f"result.json is larger than {MAX_RESULT_BYTES} bytes")
            content = file.read()
    except FileNotFoundError:
        raise InvalidResultError("no result.json was written") from None
    except OSError as error:
        # A link is said to have too many levels.
        why = "is no plain file" if error.errno in {0, errno.ELOOP} else f"cannot be read: {error.strerror}"
        raise InvalidResultError(f"result.json {why}") from error
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_RESULT_VALUES:
        raise InvalidResultError(f"result.json holds more than {MAX_RESULT_VALUES} values")
    try:
        # Unlike the standard library's, this one refuses NaN, half characters and depths that later steps cannot take.
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        hint = "; NaN and infinity are no JSON numbers" if b"NaN" in content or b"Infinity" in content else ""
        raise InvalidResultError(f"result.json is not JSON: {str(error)[:200]}{hint}") from None
    if not isinstance(document, dict):
        raise InvalidResultError("result.json is not an object")
    schema = document.get("schema")
    if isinstance(schema, int) and not isinstance(schema, bool) and schema > SCHEMA:
        raise InvalidResultError(f"result.json has schema {schema}; this orchestrator reads up to {SCHEMA}: upgrade it")
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise InvalidResultError(f"result.json: {first_problem(error)}") from None


@dataclass(frozen=True)
class Run:
    """The folder of one run."""

    folder: Path

    @property
    def name(self) -> str:
        """The run's identity: its folder's name."""
        return self.folder.name

    def repeat_folder(self, cell_id: str, repeat: int) -> Path:
        """Where one repeat of one cell lives: `<run>/<cell id>/<repeat>`."""
        return self.folder / cell_id / str(repeat)

    def create(self) -> None:
        """Make the run's folder, for this user alone; raises `HostError` where it cannot be made, or is there."""
        _folder(self.folder.parent)
        try:
            self.folder.mkdir(PRIVATE)
        except OSError as error:
            raise HostError(f"{self.folder}: cannot be made: {error.strerror}; choose another --results") from error

    @property
    def has_begun(self) -> bool:
        """Whether there is anything to go on with."""
        return (self.folder / "run.json").exists()

    def record(self) -> RunRecord:
        """Read `run.json`; raises `InputError` where it is missing, broken or newer than this program."""
        path = self.folder / "run.json"
        try:
            return _read_record(path, RunRecord, "a run record")
        except FileNotFoundError:
            raise InputError(f"{path}: no such run; `orchestrator runs` lists what there is") from None

    def plan(self) -> Plan:
        """The plan as it was frozen when the run began."""
        return plan_from_json(self.record().plan)

    def write_record(self, record: RunRecord) -> None:
        """Create the run's folder with its `run.json`."""
        write_atomically(
            _folder(self.folder, PRIVATE) / "run.json", record.model_dump_json(by_alias=True, indent=1) + "\n"
        )

    def environments(self) -> EnvironmentsRecord:
        """Read `environments.json`, empty where none was provided yet; raises `InputError` like `record`."""
        try:
            return _read_record(self.folder / "environments.json", EnvironmentsRecord, "a record of environments")
        except FileNotFoundError:
            return EnvironmentsRecord()

    def write_environments(self, provided: Sequence[EnvironmentRecord]) -> None:
        """Add what was provided now to what `environments.json` holds from before."""
        text = self.environments().merged(provided).model_dump_json(by_alias=True, indent=1) + "\n"
        write_atomically(self.folder / "environments.json", text)

    def prepare(self, request: Request, files: Mapping[str, str] = NO_FILES) -> Path:
        """Make the folder of one repeat with its request and the texts of the files that this names, and return it."""
        folder = self._made(request.cell, request.repeat)
        write_request(folder, request, files)
        return folder

    def write_outcome(self, outcome: Outcome, attempt: int | None = None) -> None:
        """Record how a repeat ended, or an attempt at it that was set aside; the last file it gets."""
        folder = self._made(outcome.cell_id, outcome.repeat)
        if attempt is not None:
            folder /= f"attempt-{attempt}"
        text = _OUTCOME.dump_json(outcome, indent=1).decode() + "\n"
        write_end(folder, text, of_result=outcome.status is Status.OK)

    def _place(self, cell_id: str, repeat: int, name: str) -> str:
        """The path of a repeat's file as text, which is put together ten times as fast as a `Path`."""
        return f"{self.folder}/{cell_id}/{repeat}/{name}"

    def _made(self, cell_id: str, repeat: int) -> Path:
        """The folder of one repeat, made in a run that is still there: one made anew would hide what was lost."""
        if not self.folder.is_dir():
            raise HostError(f"{self.folder}: this run's folder has gone; bring it back, or begin a new run")
        return _folder(self.repeat_folder(cell_id, repeat))

    def outcome(self, cell_id: str, repeat: int, attempt: int | None = None) -> Outcome | None:
        """How a repeat ended, or an attempt that was set aside; None where it has not, or its record is unsound."""
        name = "outcome.json" if attempt is None else f"attempt-{attempt}/outcome.json"
        try:
            with open_plain(self._place(cell_id, repeat, name)) as file:
                found = _OUTCOME.validate_python(from_json(file.read(MAX_OUTCOME_BYTES), allow_inf_nan=False))
        except (OSError, ValueError):
            return None
        return found if (found.cell_id, found.repeat) == (cell_id, repeat) and _is_sound(found) else None

    def result(self, outcome: Outcome) -> Result | None:
        """The measurement behind an `ok` outcome; raises `InvalidResultError` if the file has rotted since."""
        if outcome.status != "ok":
            return None
        return read_result(self._place(outcome.cell_id, outcome.repeat, "result.json"))

    def printed(self, outcome: Outcome) -> ScriptResult | None:
        """What a script printed behind an `ok` outcome; raises `InvalidResultError` if the file has rotted since."""
        if outcome.status != "ok":
            return None
        return read_answer(self.repeat_folder(outcome.cell_id, outcome.repeat) / "result.json", ScriptResult)

    def outcomes(self, cells: tuple[Cell, ...]) -> Iterator[Outcome]:
        """Every recorded outcome of these cells, by cell and repeat."""
        for cell in cells:
            for repeat in range(cell.repeats):
                outcome = self.outcome(cell.id, repeat)
                if outcome is not None:
                    yield outcome

    def lock(self) -> FileLock:
        """Hold the run against a second orchestrator; raises `HostError` where another holds it."""
        in_use = HostError(f"{self.folder}: another orchestrator is writing this run; wait for it")
        return locked(self.folder / ".lock", in_use, "choose another --results")


def _is_sound(outcome: Outcome) -> bool:
    """Whether every number in it is one that an index and a report can hold; false for NaN too."""
    numbers = [value for value in OUTCOME_VALUES(outcome) if isinstance(value, int | float)]
    return all(-_MOST <= number <= _MOST for number in numbers)


def _read_record(path: Path, kind: type[_Record], called: str) -> _Record:
    """Read one of the host's own files; raises `FileNotFoundError`, or `InputError` where it is broken or newer."""
    try:
        document = json.loads(read_record(path))
        schema = document.get("schema", 0)
        if schema > SCHEMA:
            raise InputError(f"{path}: schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
        return kind.model_validate(document)
    except FileNotFoundError:
        raise
    except ValidationError as error:
        raise InputError(f"{path}: not {called}: {first_problem(error)}") from error
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: not {called}: {str(error).splitlines()[0]}") from error


def runs(results: Path) -> list[Run]:
    """Every run below a results folder, oldest first."""
    if not results.is_dir():
        return []
    hidden = pending(results)
    found = sorted(results.glob("*/run.json"))
    hidden |= pending(results)  # a merge may have begun since
    return [Run(path.parent) for path in found if path.parent.name not in hidden]
