"""`decisions.json` in the folder of a run until decided: what was asked, and what each look decided.

The figures of a look are made again from the repeats whenever they are shown; this file is the record of what the run
went by. A run has no such file unless `--until-decided` began it.
"""

from typing import Annotated, Literal

from pydantic import Field, ValidationError

from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.results.contract import SCHEMA, Finite, Seconds, Strict
from orchestrator.results.files.writing import write_atomically
from orchestrator.results.store import Run

DECISIONS_FILE = "decisions.json"
Blocks = Annotated[int, Field(ge=2, le=10_000)]
Ended = Literal["decided", "most_blocks", "budget"]
"""The reasons for which a run until decided ends: nothing is open, no look is left, no time for another block."""


class DecidedPair(Strict):
    """A comparison that a look decided."""

    one: str
    """Cell ids."""
    other: str
    verdict: Literal["faster", "slower", "same"]
    """On `one`."""
    ratio: Finite
    """The rate of `one` over that of `other`, with the interval at the level of the look."""
    low: Finite
    high: Finite
    confidence: Finite


class LookRecord(Strict):
    """A look that was taken."""

    blocks: Blocks
    spent_s: Seconds
    """Seconds that the run had taken until then."""
    decided: tuple[DecidedPair, ...] = ()
    """The comparisons that no earlier look had decided."""
    open: tuple[str, ...] = ()
    """The cells that go on, by id."""


class Decisions(Strict):
    """The question of a run until decided, and the decisions of its looks."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    most_blocks: Blocks
    budget_s: Seconds | None = None
    """Of all the time that the run takes; None without a bound."""
    alpha: Annotated[float, Field(gt=0, lt=0.5)]
    """Share of the runs in which any comparison of a group may be called `faster` or `slower` wrongly."""
    tolerance: Annotated[float, Field(ge=0, lt=1)]
    """Within which two cells are `same`."""
    spent_s: Seconds = 0.0
    """Seconds that it has taken so far, written after every repeat."""
    looks: tuple[LookRecord, ...] = ()
    ended: Ended | None = None
    """The reason that it has ended; None while it goes on, and if it was stopped."""

    @property
    def taken(self) -> tuple[int, ...]:
        """Return the blocks of the looks that were taken."""
        return tuple(look.blocks for look in self.looks)


def write_decisions(run: Run, decisions: Decisions) -> None:
    """Write `decisions.json` into the folder of a run."""
    write_atomically(run.folder / DECISIONS_FILE, decisions.model_dump_json(by_alias=True, indent=1) + "\n")


def is_until_decided(run: Run) -> bool:
    """Return true if the number of repeats of a run follows what it sees."""
    return (run.folder / DECISIONS_FILE).exists()


def stored_decisions(run: Run) -> Decisions | None:
    """Return the decisions of a run, or None for a run that was not asked for any.

    Raises `InputError` where the file is broken.
    """
    path = run.folder / DECISIONS_FILE
    try:
        return Decisions.model_validate_json(read_record(path))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(
            f"{path}: not the decisions of a run: {first_problem(error)}; bring back a copy: without it nothing says "
            "at which level the figures of this run hold"
        ) from error
