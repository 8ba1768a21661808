"""A joint trial, which measures one cell of each of several sides in the same blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.regression.rules import Gate
from orchestrator.regression.sides import Side
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.store import Run

JOINT_FILE = "joint.json"


@dataclass(frozen=True, slots=True)
class JointSide:
    """A side and its cell in the plan of the run."""

    side: Side
    cell: str
    """Id of the cell."""


@dataclass(frozen=True, slots=True)
class JointTrial:
    """A joint trial as it was begun."""

    sides: tuple[JointSide, ...]
    """The first one is the reference of all others in work and environment."""
    gate: Gate
    """The one metric that is measured."""
    blocks: int
    seed: int
    """Seed of the order in the blocks, another one in each trial of the same sides."""
    unplanned: Mapping[str, str] = field(default_factory=dict)
    """The sides that were asked for and cannot be planned by `Side.text`, with the reason."""

    @property
    def asked(self) -> frozenset[str]:
        """Return all sides that were asked for, as `Side.text` writes them."""
        return frozenset((*(each.side.text for each in self.sides), *self.unplanned))

    @property
    def pythons(self) -> frozenset[str]:
        """Return the Pythons that its sides must run on."""
        return frozenset(each.side.python for each in self.sides)


_TRIAL = TypeAdapter(JointTrial)


def is_joint(run: Run) -> bool:
    """Return true if a run measures a joint trial."""
    return (run.folder / JOINT_FILE).exists()


def store_joint_trial(run: Run, trial: JointTrial) -> None:
    """Write a joint trial to its run's folder, before `run.json`."""
    write_atomically(run.folder / JOINT_FILE, _TRIAL.dump_json(trial, indent=1).decode() + "\n")


def stored_joint_trial(run: Run) -> JointTrial:
    """Read a joint trial back. Raises `InputError` where the run is of none, or its file is broken."""
    path: Path = run.folder / JOINT_FILE
    try:
        return _TRIAL.validate_json(read_record(path))
    except FileNotFoundError:
        raise InputError(f"{path.parent}: is no run of a search") from None
    except ValidationError as error:
        raise InputError(
            f"{path}: not a joint trial: {first_problem(error)}; bring back a copy, or search again: what the run has "
            "measured stays, and `orchestrator report` shows it"
        ) from error


def recorded_packages(run: Run, side: Side) -> Mapping[str, str]:
    """Return the packages of a side's environment, as its run recorded it. None for an image of the user's own."""
    cells = {each.side.text: each.cell for each in stored_joint_trial(run).sides}
    cell = next(cell for cell in run.plan().cells if cell.id == cells[side.text])
    if cell.framework.image or cell.framework.dockerfile:
        return {}
    made = {record.image: record for record in run.environments().environments}
    return made[cell.image].versions if cell.image in made else {}
