"""The contents of `bisect.json`, whose answers alone resume a search."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from orchestrator.analysis.comparison import OF_FIGURES, Comparison
from orchestrator.domain import Status
from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.images.reasons import is_of_surroundings
from orchestrator.regression.model import Positive, Share
from orchestrator.regression.search.chain_record import FoundChain
from orchestrator.regression.search.conclusion import Conclusion
from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.regression.search.record_parts import FoundBase, SearchBase, UntestableRelease
from orchestrator.results.contract import Count, Strict
from orchestrator.results.files.writing import write_atomically

RECORD_FILE = "bisect.json"


class MeasuredRound(Strict):
    """Blocks that were measured in one run, each of which holds all of some environments once."""

    change: str = ""
    """The release whose moves are searched; empty in the search of releases."""
    python: Annotated[str, Field(exclude_if=lambda python: not python)] = ""
    """The Python of all its releases in a chain; empty if the whole search has one."""
    releases: tuple[str, ...]
    """The texts of the sides, as `Side.text` writes them."""
    blocks: Count
    run: str = ""
    """Relative to the search's folder; empty if there was nothing to run."""
    values: tuple[tuple[Positive | None, ...], ...] = ()
    """For each block the values of the releases, in their order; null where a repeat failed."""
    untestable: tuple[UntestableRelease, ...] = ()

    @property
    def launches(self) -> int:
        """Return the number of containers."""
        return len(self.releases) * self.blocks

    def measures(self, release: str) -> bool:
        """Return true if a release has a value in any of the blocks."""
        place = self.releases.index(release) if release in self.releases else None
        return place is not None and any(block[place] is not None for block in self.values)


class Step(Strict):
    """A search's verdict on a release or environment compared with the testable one before it."""

    before: str
    after: str
    blocks: Count
    """Blocks that have both. The comparison is that of the last look, which may have had fewer."""
    comparison: Comparison | None = None
    """None before the first look."""
    excluded: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """The smallest step that is excluded, as a share: the true one is at least so large in at most α of the cases."""


class Origin(Strict):
    """The part of a change's two environments that it came with."""

    before: str
    after: str
    moved: tuple[str, ...]
    """Every package that moved, the one that was searched last."""
    by: tuple[str, ...] = ()
    """The moves that changed it, several if those between could not be tested, none if it is not known."""
    note: str = ""
    """The reason that it is not known more closely."""
    conclusion: Conclusion | None = None
    """The conclusion of the search over the moves; None if there was nothing to search."""
    alpha: Share | None = None
    """The share of α of that search; None if there was nothing to search."""
    steps: tuple[Step, ...] = ()
    """Its steps, in order; `before` and `after` are moves, each with all moves before it."""


class Found(FoundBase):
    """The result of a search."""

    origins: tuple[Origin, ...] = ()
    """One for each change, in the same order."""
    steps: tuple[Step, ...] = ()
    """The steps from each testable release to the next, in order. In a chain both are of one span."""
    chain: Annotated[FoundChain | None, Field(exclude_if=lambda chain: chain is None)] = None
    """The spans of a chain, of which `releases` has the conclusion; None if one Python runs all releases."""

    @property
    def excluded(self) -> float | None:
        """Return the smallest step that would have been found as a share, or None if that is not known."""
        every = [step.excluded for step in self.steps]
        known = [each for each in every if each is not None]
        return max(known) if known and len(known) == len(every) else None


class Bisection(SearchBase):
    """The whole file."""

    schema_: Literal[2] = Field(2, alias="schema")
    rounds: tuple[MeasuredRound, ...] = ()
    found: Found | None = None
    """None until the search has ended."""

    @property
    def launches(self) -> int:
        """Return the number of containers so far."""
        return sum(each.launches for each in self.rounds)


AnyBisection = Annotated[Bisection | EarlierBisection, Field(discriminator="schema_")]
"""A record of this schema, or of an earlier one."""
_RECORD: TypeAdapter[Bisection | EarlierBisection] = TypeAdapter(AnyBisection)


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `bisect.json`."""
    body = _RECORD.json_schema(mode="serialization", by_alias=True)
    # A search compares figures alone.
    of_figures = [verdict.value for verdict in OF_FIGURES]
    body["$defs"]["Verdict"] |= {
        "description": "What may be said of a candidate compared with its baseline.",
        "enum": of_figures,
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def may_pass(reason: str) -> bool:
    """Return true if the failure is one of the host or its index, so that another try may succeed."""
    status, _, said = reason.partition(": ")
    return status == Status.LAUNCH_FAILED.value or (status == Status.BUILD_FAILED.value and is_of_surroundings(said))


def forgetful(record: Bisection, *, failed: bool) -> Bisection:
    """Return the record without failures that may pass, or with `failed` without all failures, to ask them again.

    What was measured stays.
    """

    def kept(measured: MeasuredRound) -> MeasuredRound:
        lasting = tuple(each for each in measured.untestable if not (failed or may_pass(each.reason)))
        return measured.model_copy(update={"untestable": lasting})

    rounds = tuple(map(kept, record.rounds))
    return record if rounds == record.rounds else record.model_copy(update={"rounds": rounds, "found": None})


def write(folder: Path, record: Bisection | EarlierBisection) -> None:
    """Replace the record, wholly or not at all."""
    write_atomically(folder / RECORD_FILE, record.model_dump_json(by_alias=True, indent=1) + "\n")


def read(folder: Path) -> Bisection | EarlierBisection:
    """Read a record. Raises `InputError` where there is none, or it is broken."""
    path = folder / RECORD_FILE
    try:
        return _RECORD.validate_json(read_record(path))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: is no search; --resume takes the name that `bisect` gave it") from None
    except ValidationError as error:
        raise InputError(
            f"{path}: not the record of a search: {first_problem(error)}; bring back a copy, or search again: the "
            "runs next to it stay as they are"
        ) from error
