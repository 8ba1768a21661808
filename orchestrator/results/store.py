"""The folder of a run, with one folder for each cell and repeat. No file is ever deleted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import TypeAdapter
from pydantic_core import from_json

from orchestrator.domain import Cell, Outcome, Plan, Status
from orchestrator.errors import HostError
from orchestrator.files import open_plain
from orchestrator.results.container_answers import read_answer, read_result
from orchestrator.results.contract import Request, Result
from orchestrator.results.files.writing import NO_FILES, locked, made_folder, write_atomically, write_end, write_request
from orchestrator.results.records import (
    EnvironmentRecord,
    EnvironmentsRecord,
    RunRecord,
    read_environments,
    read_plan,
    read_run_record,
)
from orchestrator.results.scripts.contract import ScriptResult

MAX_OUTCOME_BYTES = 1024 * 1024
PRIVATE = 0o700
"""The rights on a run's folder: what was measured may leave anything in it, programs of this user's too."""
_MOST = 2**53
_OUTCOME = TypeAdapter(Outcome)
OUTCOME_FIELDS = tuple(field.name for field in fields(Outcome))
OUTCOME_VALUES: Callable[[Outcome], tuple[Any, ...]] = attrgetter(*OUTCOME_FIELDS)
"""All fields of an outcome, in their order; `dataclasses.astuple` copies each, which takes most of an index's time."""


@dataclass(frozen=True)
class Run:
    """The folder of one run."""

    folder: Path

    @property
    def name(self) -> str:
        """Return the name of the folder, which identifies the run."""
        return self.folder.name

    @property
    def whole(self) -> str:
        """Return the name that users know it by: of a part, that of the run on a cluster."""
        return self.name.partition("/")[0]

    def repeat_folder(self, cell_id: str, repeat: int) -> Path:
        """Return the folder of a repeat, `<run>/<cell id>/<repeat>`."""
        return self.folder / cell_id / str(repeat)

    def create(self) -> None:
        """Make the run's folder, for this user alone. Raises `HostError` if it cannot be made or exists."""
        made_folder(self.folder.parent)
        try:
            self.folder.mkdir(PRIVATE)
        except OSError as error:
            raise HostError(f"{self.folder}: cannot be made: {error.strerror}; choose another --results") from error

    @property
    def has_begun(self) -> bool:
        """Return true if the run has a record to continue from."""
        return (self.folder / "run.json").exists()

    def record(self) -> RunRecord:
        """Read `run.json`. Raises `InputError` if it is missing, broken or newer than this program."""
        return read_run_record(self.folder / "run.json")

    def plan(self) -> Plan:
        """Read the plan as it was frozen when the run began. Raises as `record` does."""
        return read_plan(self.folder / "run.json")

    def write_record(self, record: RunRecord) -> None:
        """Create the run's folder with its `run.json`."""
        write_atomically(
            made_folder(self.folder, PRIVATE) / "run.json", record.model_dump_json(by_alias=True, indent=1) + "\n"
        )

    def environments(self) -> EnvironmentsRecord:
        """Read `environments.json`, empty if none was provided yet. Raises `InputError` as `record` does."""
        return read_environments(self.folder / "environments.json")

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
        """Write the outcome of a repeat, or of an attempt that was set aside. It is the last file of either."""
        folder = self._made(outcome.cell_id, outcome.repeat)
        if attempt is not None:
            folder /= f"attempt-{attempt}"
        text = _OUTCOME.dump_json(outcome, indent=1).decode() + "\n"
        write_end(folder, text, of_result=outcome.status is Status.OK)

    def _place(self, cell_id: str, repeat: int, name: str) -> str:
        """The path of a repeat's file as text, which is put together ten times as fast as a `Path`."""
        return f"{self.folder}/{cell_id}/{repeat}/{name}"

    def _made(self, cell_id: str, repeat: int) -> Path:
        """Make the folder of a repeat, if that of its run still exists.

        A new folder of the run would hide that the old one was lost.
        """
        if not self.folder.is_dir():
            raise HostError(f"{self.folder}: this run's folder has gone; bring it back, or begin a new run")
        return made_folder(self.repeat_folder(cell_id, repeat))

    def outcome(self, cell_id: str, repeat: int, attempt: int | None = None) -> Outcome | None:
        """Return the outcome of a repeat, or of an attempt that was set aside, or None.

        It is None too if the record is broken.
        """
        name = "outcome.json" if attempt is None else f"attempt-{attempt}/outcome.json"
        try:
            with open_plain(self._place(cell_id, repeat, name)) as file:
                outcome = _OUTCOME.validate_python(from_json(file.read(MAX_OUTCOME_BYTES), allow_inf_nan=False))
        except (OSError, ValueError):
            return None
        return outcome if (outcome.cell_id, outcome.repeat) == (cell_id, repeat) and _is_sound(outcome) else None

    def result(self, outcome: Outcome) -> Result | None:
        """Return the measurement of an `ok` outcome. Raises `InvalidResultError` if the file has rotted since."""
        if outcome.status != "ok":
            return None
        return read_result(self._place(outcome.cell_id, outcome.repeat, "result.json"))

    def printed(self, outcome: Outcome) -> ScriptResult | None:
        """Return the figures of a script's `ok` outcome. Raises `InvalidResultError` if the file has rotted since."""
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
        """Lock the run. Raises `HostError` if another orchestrator has locked it."""
        in_use = HostError(f"{self.folder}: another orchestrator is writing this run; wait for it")
        return locked(self.folder / ".lock", in_use, "choose another --results")


def _is_sound(outcome: Outcome) -> bool:
    """Return true if an index and a report can hold every number in it. NaN is none of these."""
    numbers = [value for value in OUTCOME_VALUES(outcome) if isinstance(value, int | float)]
    return all(-_MOST <= number <= _MOST for number in numbers)


@dataclass(frozen=True)
class PartRun(Run):
    """The run of a part on one node, for those who read runs of many places together."""

    @property
    def name(self) -> str:
        """Return its place in the results folder, such as `20261121T153000Z-1f3a/parts/003/node7`."""
        return "/".join(self.folder.parts[-4:])
