"""The contents of `regression.json`, frozen and published as a schema."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field

from orchestrator.analysis.comparison import Verdict
from orchestrator.domain import Status
from orchestrator.modes.parts.metrics import Better
from orchestrator.results.contract import LARGEST, SCHEMA, Count, Finite, Some, Strict

Positive = Annotated[float, Field(gt=0, le=LARGEST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
SILENT = frozenset({Status.BUILD_FAILED, Status.LAUNCH_FAILED, Status.NO_DEVICE, Status.NOT_RUN})
"""They tell of the host, the index or the engine, and nothing of the release."""


class Confirmation(Strict):
    """The verdict of fresh blocks, judged by themselves, on a metric that came out slower."""

    confirmed: bool
    blocks: Count
    ratio: Positive | None = None
    low: Positive | None = None
    high: Positive | None = None
    confidence: Share | None = None


class Nights(Strict):
    """The scatter of values within a run and from run to run, as standard deviations of logarithms."""

    baseline: Some
    """The number of runs."""
    candidate: Some
    within: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Deviation between the repeats of a run; None if no run has two."""
    between: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Deviation from run to run beyond that of the repeats; None if no side has two runs."""


class Judged(Strict):
    """One metric of one pair of cells."""

    metric: str
    title: str
    unit: str
    better: Better
    gates: bool
    """True if it decides; a metric that does not is shown all the same."""
    verdict: Verdict
    reason: str = ""
    """One line with the reason that there is no verdict on the figures, or with what else must be known."""
    tolerance: Share
    baseline: Finite | None = None
    """Geometric mean over the blocks that count; None if nothing was measured."""
    candidate: Finite | None = None
    ratio: Positive | None = None
    """Candidate over baseline; above 1 is worse for a metric that is better low."""
    low: Positive | None = None
    high: Positive | None = None
    confidence: Share | None = None
    """Confidence of the interval, and of `slower` and `faster`, corrected over the family and the looks."""
    equivalence: Share | None = None
    """Largest probability of `same` if the truth lies outside the tolerance."""
    p_value: Share | None = None
    minimum_detectable_effect: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """The true change for the worse that shows with 80 % probability, as a share of the baseline."""
    more_blocks: Some | None = None
    """Only for `inconclusive`: further blocks that would settle it with 80 % probability."""
    blocks: Count = 0
    """Blocks that count, in which both sides ended `ok`.

    For stored runs it is the number of repeats, or runs, of the side that has fewer.
    """
    values: tuple[tuple[float, float], ...] = ()
    """Baseline and candidate of each block that counts, in order; empty if they were not measured in blocks."""
    nights: Nights | None = None
    """Only for stored runs; None if both sides were measured in the blocks of one run."""
    confirmation: Confirmation | None = None
    """None if there was no request for one, or nothing to confirm."""

    @property
    def is_significant(self) -> bool:
        """Return true if the interval leaves out 1, even if it lies within the tolerance."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high

    @property
    def is_regression(self) -> bool:
        """Return true if the metric decides, is worse, and is confirmed if a confirmation was asked for."""
        confirmed = self.confirmation is None or self.confirmation.confirmed
        return self.gates and self.verdict is Verdict.SLOWER and confirmed


class Moved(Strict):
    """A package that is not the same in both environments."""

    name: str
    baseline: str = ""
    """Its version; empty if it is missing there."""
    candidate: str = ""


class JudgedPair(Strict):
    """One pair of cells, or a cell without a counterpart."""

    id: str
    baseline_cell: str = ""
    candidate_cell: str = ""
    model: str = ""
    verdict: Verdict
    """The worst verdict of the deciding metrics."""
    reason: str = ""
    """One line, if the verdict is not that of a metric."""
    notes: tuple[str, ...] = ()
    """Notes on failed or disturbed repeats, and on weaknesses of the parity."""
    computes: bool = True
    """False if a side computes nothing and was not named: the pair is shown and decides nothing."""
    metrics: tuple[Judged, ...] = ()

    @classmethod
    def of_one_side(cls, verdict: Verdict, name: str, cell_id: str, reason: str, model: str = "") -> Self:
        """Return the pair of a cell without a counterpart, which is `gone` or `new`."""
        cell = {"baseline_cell" if verdict is Verdict.GONE else "candidate_cell": cell_id}
        return cls(id=name, model=model, verdict=verdict, reason=reason, **cell)

    @property
    def is_regression(self) -> bool:
        """Return true if this pair is a regression."""
        return self.verdict is Verdict.BROKE or any(metric.is_regression for metric in self.metrics)


class SideRecord(Strict):
    """One side, as it was asked for and as it was measured."""

    text: str
    """`mxnet==1.9.1,numpy==1.22.4`."""
    label: str
    python: str = ""
    """The Python that its containers reported; several are joined by ` | `."""


class ChainLink(Strict):
    """The ratio of one metric in one link of a chain from an anchor to a candidate."""

    cell: str
    """The id of the pair."""
    metric: str
    baseline: str
    """The release that is nearer to the anchor, such as `1.5.1`."""
    candidate: str
    python: str
    """The Python that both of them ran on."""
    ratio: Positive
    error: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Standard error of the logarithm of the ratio; the squares of those of all links add up."""


class Anchored(Strict):
    """The candidate next to the anchor, a fixed release that is measured in the same blocks."""

    anchor: SideRecord
    tolerance: Share
    over: tuple[str, ...] = ()
    """Releases that the ratios are chained over; empty if one Python runs anchor and candidate."""
    pairs: tuple[JudgedPair, ...]
    """One for each pair of the test, with the metrics that decide; the anchor is the baseline."""
    links: tuple[ChainLink, ...] = ()
    """Of all pairs and metrics of a chain, from the anchor to the candidate."""


class Design(StrEnum):
    """The two sides that are compared."""

    BLOCKS = "blocks"
    """Both sides were measured in every block of one run."""
    RUNS = "runs"
    """One run each, which may differ from run to run by more than the interval covers."""
    SEVERAL_RUNS = "nights"
    """Several runs each, where a run is one value."""


class Regression(Strict):
    """A whole regression test, or stored runs compared with each other: every pair is in it, whatever became of it."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    run: str
    """The run with the raw files."""
    created_at: str
    """The beginning of the run, in ISO 8601, UTC."""
    host: str
    runtime: str
    baseline: SideRecord
    candidate: SideRecord
    measurement_version: Count = 0
    """0 if nothing was measured."""
    alpha: Share
    """Probability of any false `slower` or `faster` in the whole test, whatever the number of cells and looks."""
    family: Count
    """Statistical verdicts that share alpha: pairs × metrics that decide."""
    looks: tuple[Some, ...]
    """Blocks after which a look took place."""
    confirms: bool
    """True if slower metrics were measured again on fresh blocks."""
    design: Design = Design.BLOCKS
    blocks_follow_sight: bool = False
    """True for stored runs whose regression test chose the number of blocks by what it saw, which keeps no alpha."""
    complete: bool
    """False if it was stopped, which may be the reason for `inconclusive`."""
    moved: tuple[Moved, ...] = ()
    """Packages that differ between the two environments."""
    warnings: tuple[str, ...] = ()
    pairs: tuple[JudgedPair, ...]
    anchored: Annotated[Anchored | None, Field(exclude_if=lambda anchored: anchored is None)] = None
    """The candidate next to an anchor, if a nightly names one; it decides nothing of the pairs."""

    @property
    def regressions(self) -> tuple[JudgedPair, ...]:
        """Return the pairs that are regressions."""
        return tuple(pair for pair in self.pairs if pair.is_regression)

    @property
    def tells_nothing(self) -> bool:
        """Return true if everything that both sides can do is `not measured`."""
        tried = [pair for pair in self.pairs if pair.baseline_cell and pair.candidate_cell]
        judged = [metric for pair in tried for metric in pair.metrics if metric.gates]
        verdicts = {*(pair.verdict for pair in tried), *(metric.verdict for metric in judged)}
        return verdicts == {Verdict.NOT_MEASURED}

    @property
    def unmeasured(self) -> tuple[JudgedPair, ...]:
        """Return the pairs of which neither side has a result."""
        return tuple(pair for pair in self.pairs if pair.verdict is Verdict.NOT_MEASURED)

    @property
    def doubtful(self) -> tuple[JudgedPair, ...]:
        """Return the pairs that are no regression, and not shown to be as good or better."""
        judged = (pair for pair in self.pairs if pair.computes)
        return tuple(pair for pair in judged if not pair.is_regression and not pair.verdict.is_good)
