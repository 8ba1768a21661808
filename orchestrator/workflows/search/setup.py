"""The setup of a search: its subject, the metric that decides, and the one cell in which it compares releases."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.catalog import Catalog
from orchestrator.domain import Cell
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.regression.joint_plan import JointPlan, joint_plan
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.printed import PREFIX, metrics_of
from orchestrator.regression.rules import Gate, blocks_needed, metric_of, parse_gates, printed_gates, too_few_blocks
from orchestrator.regression.search.candidates import SearchSubject, own_releases, search_subject
from orchestrator.regression.sides import Side
from orchestrator.wording import listing
from orchestrator.workflows.measure.pair import RegressionSetup


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """The setup of regression tests in one cell."""

    tests: RegressionSetup
    cell: str
    """The glob of the cell."""

    def pair(self, baseline: Side, candidate: Side) -> Pairing:
        """Pair two sides in the one cell, with its data. Raises `InputError` where that is none, or several."""
        return self.tests.with_data(self.planned(baseline, candidate))

    def joint(self, sides: Sequence[Side], blocks: int) -> JointPlan:
        """Plan several sides in the one cell, with its data, in so many blocks. Raises `InputError` as `pair` does."""
        joint = joint_plan(sides, self.planned, blocks)
        return replace(joint, plan=self.tests.plan_with_data(joint.plan))

    def unsupported_reason(self, good: Side, side: Side) -> str | None:
        """Return the reason a side cannot be compared with the good one, or None."""
        try:
            self.planned(good, side)
        except InputError as error:
            return error.messages[0]
        return None

    def planned(self, baseline: Side, candidate: Side) -> Pairing:
        """Return what `pair` does, without looking at any data."""
        try:
            pairing = self.tests.planner.pair(baseline, candidate, Selection((self.cell,)))
        except InputError as error:
            raise InputError(*(message.replace("--select", "--cell") for message in error.messages)) from None
        if not pairing.pairs:
            unpaired = (*pairing.gone, *pairing.new)[0]
            raise InputError(f"--cell {self.cell!r}: {unpaired.id}: {unpaired.reason}")
        if len(pairing.pairs) > 1:
            ids = ", ".join(pair.id for pair in pairing.pairs[:4])
            raise InputError(f"--cell {self.cell!r} matches {len(pairing.pairs)} cells, and a search is of one: {ids}")
        return pairing


def subject_of(good: Side, bad: Side, catalog: Catalog) -> SearchSubject:
    """Return what is searched between two sides. Raises `InputError` if they differ in more than one release."""
    distribution = good.name if good.is_package else _package(good.name, catalog).partition("[")[0]
    return search_subject(good, bad, distribution or good.name)


def own_images(setup: RegressionSetup, subject: SearchSubject) -> tuple[str, ...] | None:
    """Return the releases that are images of the user's own, or None if the package index has them.

    Raises `InputError` if neither has any.
    """
    own, name = own_releases(setup.matrix, subject), subject.good.name
    if own is None and subject.is_framework and not _package(name, setup.planner.catalog):
        raise InputError(
            f"--good {subject.good.text}: {name!r} has no package on any index; name a package to search in it, "
            f"such as --good {subject.good.text},numpy==1.16.6 --bad {subject.good.text},numpy==1.19.5, or give good "
            "and bad an image or dockerfile each in the matrix"
        )
    return own


DEFAULT_METRIC = "throughput"


def chosen_metric(text: str | None, cell: Cell) -> str:
    """Return the metric that is asked for, or else the throughput, or the one figure that a script prints.

    Raises `InputError` if a script prints several, or something else is asked of it.
    """
    if cell.script is None:
        return text or DEFAULT_METRIC
    names = [metric.name for metric in metrics_of(cell.script)]
    if text is None and len(names) == 1:
        return names[0]
    if text is None or not text.strip().startswith(PREFIX):
        given = f"--metric {text!r}" if text else "--metric is missing"
        raise InputError(f"{given}: a script is searched by a figure that it prints: {listing(names)}")
    return text


def metric_gate(text: str, models: Sequence[str], most_blocks: int, cell: Cell) -> Gate:
    """Return the metric that decides in a cell. Raises `InputError` for one that blocks cannot decide."""
    printed = printed_gates([cell.script] if cell.script else [])
    *_, gate = parse_gates([text], "--metric", models, printed if text.strip().startswith(PREFIX) else ())
    if metric_of(gate).is_exact:
        raise InputError(
            f"--metric {text!r}: is known exactly from one repeat, so there is nothing to search by blocks; "
            "`orchestrator regress` compares it between two releases"
        )
    if reason := too_few_blocks(gate.metric, most_blocks):
        raise InputError(f"--metric {text!r}: {reason}: give --max-blocks {blocks_needed(gate.metric)} or more")
    return gate


def _package(framework: str, catalog: Catalog) -> str:
    """Return the package that the catalog installs for a framework, or an empty text."""
    entry = catalog.entry(framework)
    assert entry is not None, "checked when it was read"  # noqa: S101 -- for the type alone
    return entry.packages[framework]
