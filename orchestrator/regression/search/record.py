"""The contents of `bisect.json`, whose answers alone resume a search."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from orchestrator.analysis.comparison import ALPHA, OF_FIGURES, Comparison, Verdict
from orchestrator.domain import Status
from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.images.reasons import is_of_surroundings
from orchestrator.regression.model import Positive, Share
from orchestrator.regression.rules import Gate
from orchestrator.regression.search.algorithm import Conclusion, Span
from orchestrator.results.contract import Count, Strict
from orchestrator.results.writing import write_atomically

RECORD_FILE = "bisect.json"
AUTO = "auto"
"""The runtime of a search without a chosen one."""


class Asked(Strict):
    """The question of a search, and the sources of its environments, models and data."""

    good: str
    bad: str
    python: str
    """The one Python that all releases run on; empty for the user's own images."""
    cell: str
    """The glob as the user wrote it."""
    pair: str
    """The pair of good and bad, such as `cpu/lenet-train-b200`."""
    metric: Gate
    every: bool
    looks: tuple[int, ...]
    alpha: Share = ALPHA
    """Probability of a wrong change in each of the two phases, releases and dependencies."""
    prereleases: bool = False
    yanked: bool = False
    matrix: str
    matrix_sha256: str
    models: str | None
    data: str | None
    base_image: str | None
    no_parity: bool
    limit: int
    runtime: str


class LeftOut(Strict):
    """A release between the two that is not searched."""

    release: str
    reason: str


class Probed(Strict):
    """The evidence of two environments over so many blocks."""

    baseline: str
    """The text of the side, as `Side.text` writes it; so is the candidate."""
    candidate: str
    blocks: Count
    run: str = ""
    """Relative to the search's folder; empty if there was nothing to run."""
    values: tuple[tuple[Positive, Positive], ...] = ()
    """Values of each block that counts; none if one of the two is untestable."""
    untestable: str = ""
    """The side that cannot be tested."""
    reason: str = ""


class Step(Strict):
    """A search's verdict on two of its releases or environments, at its last look."""

    before: str
    after: str
    blocks: Count = 0
    run: str = ""
    """Relative to the search's folder; empty if there was nothing to run."""
    comparison: Comparison | None = None
    """None if one of the two is untestable."""
    untestable: str = ""
    """The side that cannot be tested."""
    reason: str = ""


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
    """Its comparisons, in order; `before` and `after` are moves, each with all moves before it."""


class Found(Strict):
    """The result of a search."""

    releases: Conclusion
    origins: tuple[Origin, ...] = ()
    """One for each change that was searched to its end, in the same order."""
    steps: tuple[Step, ...] = ()
    """The comparisons of releases, in order."""

    @property
    def changes(self) -> tuple[Span, ...]:
        """Return every change, searched to its end or not."""
        return (*self.releases.changes, *self.releases.further, *self.releases.gradual)

    @property
    def is_worse(self) -> bool:
        """Return true if anything got worse between the ends."""
        ends = [self.releases.ends] if self.releases.ends else []
        seen = [*ends, *(span.comparison for span in self.changes if span.comparison)]
        return any(comparison.verdict is Verdict.SLOWER for comparison in seen)


class Bisection(Strict):
    """The whole file."""

    schema_: Literal[1] = Field(1, alias="schema")
    name: str
    created_at: str
    host: str
    asked: Asked
    searched: str
    """The distribution whose releases they are."""
    releases: tuple[str, ...]
    """Good first, bad last."""
    left_out: tuple[LeftOut, ...] = ()
    warnings: Annotated[tuple[str, ...], Field(exclude_if=lambda warnings: not warnings)] = ()
    """Warnings about the files of the dataset."""
    probes: tuple[Probed, ...] = ()
    found: Found | None = None
    """None until the search has ended."""

    def probed(self, baseline: str, candidate: str, blocks: int) -> Probed | None:
        """Return the answer to a question, or None if it was not asked yet. No blocks make a failed side testable."""
        for each in self.probes:
            if (each.baseline, each.candidate) == (baseline, candidate) and (each.reason or each.blocks == blocks):
                return each
        return None


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `bisect.json`."""
    body = Bisection.model_json_schema(mode="serialization", by_alias=True)
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
    probes = tuple(probe for probe in record.probes if not probe.reason or not (failed or may_pass(probe.reason)))
    if len(probes) == len(record.probes):
        return record
    return record.model_copy(update={"probes": probes, "found": None})


def write(folder: Path, record: Bisection) -> None:
    """Replace the record, wholly or not at all."""
    write_atomically(folder / RECORD_FILE, record.model_dump_json(by_alias=True, indent=1) + "\n")


def read(folder: Path) -> Bisection:
    """Read a record. Raises `InputError` where there is none, or it is broken."""
    path = folder / RECORD_FILE
    try:
        return Bisection.model_validate_json(read_record(path))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder}: is no search; --resume takes the name that `bisect` gave it") from None
    except ValidationError as error:
        raise InputError(
            f"{path}: not the record of a search: {first_problem(error)}; bring back a copy, or search again: the "
            "runs next to it stay as they are"
        ) from error
