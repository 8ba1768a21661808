"""A run's report as values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from orchestrator.analysis.estimates import Printed
from orchestrator.analysis.measurements import Epochs, Measurement, RepeatMeasurement
from orchestrator.analysis.parity.work import PairParity, WorkParity
from orchestrator.analysis.ratios import Rank, Ratio
from orchestrator.domain import Cell, Outcome, Skip, Status, System, Workload
from orchestrator.modes.parts.settings import LaterFields, Profile
from orchestrator.reporting.findings.certainty.limits_model import GroupLimits
from orchestrator.reporting.findings.certainty.looks_model import GroupLooks, UntilDecided
from orchestrator.reporting.findings.claims.findings import StudyReport
from orchestrator.reporting.findings.cluster_model import ClusterReport, PartOnNode
from orchestrator.results.builds import Build

StatusCounts = tuple[tuple[Status, int], ...]
"""In the order of `Status`; statuses that did not occur are left out."""

Facts = tuple[tuple[str, str], ...]
"""Flattened: `versions.numpy` and `1.23.5`."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """One planned repeat of one cell, with its measurement where it is `ok`."""

    outcome: Outcome
    measurement: RepeatMeasurement | None


@dataclass(frozen=True, slots=True)
class CellReport:
    """One planned cell with all its planned repeats."""

    cell: Cell
    label: str
    """For people: the framework, and whatever else distinguishes it from the other cells of its group."""
    repeats: tuple[Repeat, ...]
    statuses: StatusCounts
    measurement: Measurement | None
    """None where no repeat is `ok`, and of a search for the largest batch, whose steps are not timed."""
    facts: Facts
    """The facts that containers report about themselves; different values are joined by ` | `."""
    measurement_versions: tuple[int, ...] = ()
    printed: tuple[Printed, ...] = ()
    """A script's own figure, in place of a measurement; never compared with one."""
    computes: bool = True
    """False where its builder computes nothing: then it shows what the harness takes, and is compared with nothing."""

    @property
    def epochs(self) -> Epochs | None:
        """Total time, None if nothing was measured or steps were timed."""
        return self.measurement.epochs if self.measurement else None

    @property
    def step_s(self) -> float | None:
        """Wall time of one step by the throughput, None if nothing was measured, and under load."""
        measured = None if self.cell.workload.load else self.measurement  # a load may leave the server idle
        samples = self.cell.samples_of_a_step
        return samples / measured.throughput.value if measured and measured.throughput.value else None


@dataclass(frozen=True, slots=True)
class Placed:
    """The place of a cell in its group, without rank and ratio if it was not measured.

    What does not do the same work as the best has no rank either.
    """

    cell_id: str
    label: str
    rank: Rank | None
    to_best: Ratio | None
    """Over the best: the first place, which none of those that do its work is above; None for that one itself."""
    parity: PairParity | None = None
    """True if it does the work of the best; None for that one itself, and if nothing was measured or is known."""
    harness_share: float | None = None
    """Part of its step that the harness takes, by the floor of its group; None where either was not measured."""

    @property
    def verdict(self) -> str:
        """Return the verdict on its ratio in a word; of what approximates the best, that it is quantised."""
        return verdict_on(self.to_best, self.parity) if self.to_best else ""


def verdict_on(over: Ratio, work: PairParity | None) -> str:
    """Return the verdict on a ratio in a word. A cell that approximates the other is quantised."""
    approximates = work is not None and work.work is WorkParity.QUANTISED
    return WorkParity.QUANTISED.value if approximates else over.verdict.value


@dataclass(frozen=True, slots=True)
class Floor:
    """A cell that computes nothing, whose step is what the harness takes of every other cell's."""

    cell_id: str
    label: str
    step_s: float | None
    """Wall time of its step; None where it was not measured."""
    share: float | None
    """Part of a step of the fastest cell of the group; None where either was not measured."""


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The throughput of a cell on several GPUs over that of a cell which does the same work on one."""

    cell_id: str
    one_gpu_cell_id: str
    speed_up: float
    value: float
    """The speed-up by the number of GPUs."""
    low: float | None
    """Lower end of its interval; None if a side was measured once."""
    high: float | None


class GroupFinding(StrEnum):
    """The conclusion on a group."""

    DECIDED = "decided"
    """One cell is faster than every other, each pair by itself."""
    SAME = "same"
    """The fastest are equally fast, within the tolerance."""
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    """No two cells do the same work."""
    ALONE = "nothing to compare"
    """A single cell was measured."""
    FLOOR = "harness floor"
    """Nothing but cells that compute nothing was planned."""
    NOTHING = "not measured"


@dataclass(frozen=True, slots=True)
class Group(LaterFields):
    """Cells that do the same work on the same kind of system, which alone are compared."""

    LATER: ClassVar[Mapping[str, Any]] = {"efficiencies": (), "node": "", "looks": None, "limits": None}

    system: System
    workload: Workload
    places: tuple[Placed, ...]
    """The measured cells, highest estimate first, those that do other work than the best last; then the others, in
    the order of the plan."""
    ratios: tuple[tuple[Ratio | None, ...], ...]
    """Row over column, among the measured cells in the order of `places`, None on the diagonal; empty in a large
    group, where each is compared with the best alone."""
    parity: tuple[tuple[PairParity | None, ...], ...]
    """True for each two that do the same work, laid out as `ratios`; empty if nothing is known, or of many."""
    conclusion: GroupFinding
    sentence: str
    """The findings, in plain words."""
    floors: tuple[Floor, ...] = ()
    """The cells that compute nothing, in the order of the plan: they have no place and are compared with nothing."""
    efficiencies: tuple[Efficiency, ...] = ()
    """Of the cells of a system with several GPUs, in the order of `places`."""
    node: str = ""
    """The node that measured it, in a run on a cluster; empty in any other run."""
    looks: GroupLooks | None = None
    """The decisions of a run until decided on it; None in any other run."""
    limits: GroupLimits | None = None
    """The limits of its intervals; None if no cell has repeats enough to say so."""

    @property
    def cell_ids(self) -> tuple[str, ...]:
        """Every cell of the group, first those that have a place, then those that compute nothing."""
        return (*(place.cell_id for place in self.places), *(floor.cell_id for floor in self.floors))

    @property
    def label(self) -> str:
        """`lenet-train-b200 on cpu`, with its node in a run on a cluster."""
        return f"{self.workload.label} on {self.place}"

    @property
    def place(self) -> str:
        """The system that it was measured on, and the node in a run on a cluster."""
        return f"{self.system.name}, {self.node}" if self.node else self.system.name

    @property
    def anchor(self) -> str:
        """A name for links that is unique in a report and like no cell id."""
        return f"group/{self.system.name}/{self.workload.label}"


@dataclass(frozen=True, slots=True)
class Affected:
    """Repeats of one cell that ended alike, and not `ok`."""

    cell_id: str
    label: str
    repeats: tuple[int, ...]
    log: str | None
    """Of the first of these repeats, relative to the run's folder."""

    @property
    def count(self) -> int:
        """Return the number of repeats."""
        return len(self.repeats)


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The last lines of a log, once for all logs that end so."""

    log: str
    """The first of these logs."""
    cell_ids: tuple[str, ...]
    """The cells whose log ends so."""
    tail: str
    """Empty where it says no more than the reason."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for which repeats, of however many cells, did not end `ok`."""

    status: Status
    reason: str
    expected: bool
    """The matrix said that this would happen."""
    cells: tuple[Affected, ...]
    """In the order of the plan."""
    logs: tuple[LogEnd, ...]


@dataclass(frozen=True, slots=True)
class ImageReport:
    """One environment, as it was made and as its containers described themselves."""

    name: str
    references: tuple[str, ...]
    """The launcher of cells: an image under its content tag, or an interpreter."""
    image_ids: tuple[str, ...]
    base_digests: tuple[str, ...]
    """Of the images that these stand on; more than one where the image was made again during the run."""
    measurement_versions: tuple[int, ...]
    facts: Facts
    """Different values of different containers are joined by ` | `."""
    pinned: tuple[str, ...]
    """Distributions that the catalog pins: the ones worth naming among all that are installed."""

    @property
    def versions(self) -> tuple[str, ...]:
        """`numpy 1.23.5` for every pinned distribution that was reported, in the catalog's order."""
        values = dict(self.facts)
        return tuple(f"{name} {values[f'versions.{name}']}" for name in self.pinned if f"versions.{name}" in values)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A parity check with its end and, if it ended well, its figures."""

    check: str
    """Its id, which is its folder below the run's `parity`."""
    status: Status
    reason: str
    log: str | None
    """Relative to the run's folder."""
    wall_s: float
    parameters: int | None = None
    first_loss: float | None = None
    last_loss: float | None = None
    """After ten steps."""


@dataclass(frozen=True, slots=True)
class Replicate:
    """The cells of a run on further nodes, in the order of the report."""

    groups: tuple[Group, ...]
    cells: tuple[CellReport, ...]
    statuses: StatusCounts
    problems: tuple[Problem, ...]
    parts: tuple[PartOnNode, ...]


@dataclass(frozen=True, slots=True)
class Report(LaterFields):
    """A whole run with every planned cell × repeat and every skip."""

    LATER: ClassVar[Mapping[str, Any]] = {
        "study": None, "profile": None, "cluster": None, "further": (), "until_decided": None,
    }  # fmt: skip

    run: str
    matrix: str
    created_at: str
    runtime: str
    orchestrator_version: str
    host: tuple[tuple[str, str], ...]
    headline: str
    """All groups in a sentence or two."""
    groups: tuple[Group, ...]
    cells: tuple[CellReport, ...]
    """In the order of the plan."""
    statuses: StatusCounts
    """Over all planned repeats."""
    problems: tuple[Problem, ...]
    skips: tuple[Skip, ...]
    images: tuple[ImageReport, ...]
    warnings: tuple[str, ...]
    checks: tuple[CheckReport, ...] = ()
    """Of parity, in the order of the plan."""
    study: StudyReport | None = None
    """The published study that the run repeats, None for any other run."""
    profile: Profile | None = None
    """The settings that took the place of the matrix's own, such as those of a smoke run; None without any."""
    cluster: ClusterReport | None = None
    """The nodes of a run on a cluster, None for a run on one host."""
    further: tuple[Replicate, ...] = ()
    """The same cells as other nodes have measured them, where several nodes measure each part."""
    until_decided: UntilDecided | None = None
    """The question of a run until decided; None for any other run."""
    builds: Annotated[tuple[Build, ...], Field(exclude=True)] = ()
    """The environments that were made for it. They are in its spans, and in no document."""

    @property
    def scripts(self) -> tuple[CellReport, ...]:
        """The cells of foreign scripts, which are in no group."""
        return tuple(cell for cell in self.cells if cell.cell.script)

    @property
    def searches(self) -> tuple[CellReport, ...]:
        """The cells that look for the largest batch, which are in no group."""
        return tuple(cell for cell in self.cells if cell.cell.workload.searches)

    @property
    def replicates(self) -> tuple["Report", ...]:
        """A report for each further node of the parts, without what is the same for all of them."""
        bare = replace(self, skips=(), study=None, warnings=(), images=(), host=(), further=(), builds=())
        return tuple(
            replace(
                bare, groups=each.groups, cells=each.cells, statuses=each.statuses, problems=each.problems,
                cluster=ClusterReport((), (), each.parts),
            ) for each in self.further
        )  # fmt: skip

    @property
    def by_id(self) -> dict[str, CellReport]:
        """The cells by their id."""
        return {cell.cell.id: cell for cell in self.cells}
