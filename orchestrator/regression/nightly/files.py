"""The state of a nightly, the folder of each night, and the lock against a second one."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from orchestrator.errors import HostError, InputError, first_problem
from orchestrator.files import read_record
from orchestrator.regression.nightly.state import Night, State
from orchestrator.results.files.writing import locked_folder, write_atomically

STATE_FILE = "state.json"
NIGHT_FILE = "night.json"
NIGHTS_FOLDER = "nights"
WATCH_FOLDER = "watch"
METRICS_FILE = "metrics.prom"
_Model = TypeVar("_Model", bound=BaseModel)


class AnotherNightError(HostError):
    """Another night is under way in the same folder."""


@dataclass(frozen=True, slots=True)
class NightFiles:
    """The reports folder of a nightly."""

    folder: Path

    def night_folder(self, night: str) -> Path:
        """Return the folder of the reports of one night."""
        return self.folder / NIGHTS_FOLDER / night

    @property
    def watch_folder(self) -> Path:
        """Return the folder of the page about the watch itself."""
        return self.folder / WATCH_FOLDER

    def held(self) -> AbstractContextManager[None]:
        """Lock the folder against a second night. Raises `AnotherNightError` if one is under way."""
        in_use = AnotherNightError(f"{self.folder}: another night is under way; this one ends")
        return locked_folder(self.folder, in_use, "choose other `reports`")

    def state(self, watched: str) -> State:
        """Read the state that the last night left, or begin a new one.

        Raises `InputError` where it cannot be read, or is that of something else that is watched.
        """
        path = self.folder / STATE_FILE
        state = _read(path, State)
        if state is None:
            return State(watched=watched)
        if state.watched != watched:
            raise InputError(
                f"{path}: is the state of {state.watched!r}, not of {watched!r}; give each its own `reports` folder"
            )
        return state

    def write_state(self, state: State) -> None:
        """Replace the state, wholly or not at all."""
        write_atomically(self.folder / STATE_FILE, _text(state))

    def write_night(self, night: Night) -> None:
        """Record a night. Its folder must be there."""
        write_atomically(self.night_folder(night.night) / NIGHT_FILE, _text(night))

    def write_metrics(self, text: str) -> None:
        """Replace the metrics of the newest night, wholly or not at all."""
        write_atomically(self.folder / METRICS_FILE, text)

    def night(self, name: str) -> Night | None:
        """Read a night back, or None if it left no record."""
        return _read(self.night_folder(name) / NIGHT_FILE, Night)

    def nights(self) -> list[Night]:
        """Return every night whose record can be read, oldest first."""
        nights = []
        for path in sorted((self.folder / NIGHTS_FOLDER).glob(f"*/{NIGHT_FILE}")):
            try:
                night = _read(path, Night)
            except InputError:
                continue
            if night is not None:
                nights.append(night)
        return nights


def _text(document: BaseModel) -> str:
    return document.model_dump_json(by_alias=True, indent=1) + "\n"


def _read(path: Path, kind: type[_Model]) -> _Model | None:
    try:
        return kind.model_validate_json(read_record(path))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(f"{path}: not a record of a nightly: {first_problem(error)}; move it away") from error
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror}") from error
