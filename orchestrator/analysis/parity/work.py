"""The judgement of which cells do the same work, pair by pair, from the answers of their parity containers.

`docs/measurement.md` says what is compared and where the bars come from.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.analysis.parity import generated, layers, optimizer, quantised
from orchestrator.analysis.parity.differences import EXACT, Difference, differences, missing, output_differences
from orchestrator.analysis.parity.sides import FULL_PRECISION, UNQUANTISED, OutputEvidence, ParitySide
from orchestrator.catalog.faults import KnownFault
from orchestrator.domain import Mode
from orchestrator.matrix.model import parse_pin
from orchestrator.modes import RULES
from orchestrator.modes.parts.rules import Evidence, ParityRule


class WorkParity(StrEnum):
    """A verdict on the work of two cells."""

    SAME = "same work"
    QUANTISED = "quantised"
    """An approximation of the other side within its bars, and so other work."""
    QUANTISED_ALIKE = "quantised alike"
    """Two approximations of one kind within their bars, whose speeds may be ranked."""
    NOT_COMPARABLE = "not comparable"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class PairParity:
    """The verdict on two cells, which is the same from either side."""

    work: WorkParity
    reason: str = ""
    """One line; empty for the same work, and within the bars of quantisation."""
    known_fault: str = ""
    """A known fault of a framework that explains a difference."""
    note: str = ""
    """A note that weakens a verdict of the same work, such as reduced precision, or says what quantisation moves."""
    differences: tuple[Difference, ...] = ()
    """Everything that was compared, in order; the worst tensor stands for all gradients."""

    @property
    def is_other_work(self) -> bool:
        """Return true if the two cells are known to do different work, so that neither wins against the other."""
        return self.work in {WorkParity.NOT_COMPARABLE, WorkParity.QUANTISED}


def matrix(
    sides: Sequence[ParitySide], mode: Mode, faults: Sequence[KnownFault] = ()
) -> tuple[tuple[PairParity | None, ...], ...]:
    """Judge every pair of a group; symmetric, None on the diagonal."""
    size = len(sides)
    judged: list[list[PairParity | None]] = [[None] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            judged[i][j] = judged[j][i] = pair(sides[i], sides[j], mode, faults)
    return tuple(tuple(row) for row in judged)


def pair(one: ParitySide, other: ParitySide, mode: Mode, faults: Sequence[KnownFault] = ()) -> PairParity:
    """Judge two cells that are to do the same work in the same mode."""
    if one.output and other.output:
        return _of_outputs(one, other, (one.output, other.output), faults)
    return _of_answers(one, other, mode, faults)


def _of_answers(one: ParitySide, other: ParitySide, mode: Mode, faults: Sequence[KnownFault]) -> PairParity:
    """Judge two cells by the answers of their parity containers."""
    if one.result is None or other.result is None:
        return _unanswered(one, other, faults)
    versions = (one.result.measurement_version, other.result.measurement_version)
    if unlike_ways := _checked_differently(versions, (one.batch_size, other.batch_size)):
        return PairParity(WorkParity.NOT_CHECKED, unlike_ways)
    unequal = _other_file(one, other) or layers.shape_difference(one.label, one.result, other.label, other.result)
    if unequal:
        return _unequal(unequal, "shapes", (one, other), faults, ())
    if {one.quantisation, other.quantisation} == {UNQUANTISED}:
        return _of_work(one, other, mode, faults)
    return _of_quantised(one, other, mode, faults)


def _of_work(one: ParitySide, other: ParitySide, mode: Mode, faults: Sequence[KnownFault]) -> PairParity:
    """Judge two cells of which none is quantised, by all that the rule of their mode compares."""
    if one.result is None or other.result is None:
        raise ValueError("both sides must have a result")
    rule = RULES[mode].parity
    compared, lacking = differences(one, other, rule), missing(one, other, rule)
    undecided = generated.undecided(one, other) if "tokens" in rule.compared else ""
    if "optimizer" in rule.compared:
        compared += tuple(optimizer.differences(one, other))
    if "tokens" in rule.compared:
        compared += generated.differences(one, other)
    unlike = _over_its_bar(compared)
    if unlike is None and "optimizer" in rule.compared:
        unlike = optimizer.settings_difference(one, other)
    if unlike is None and "dropout" in rule.compared:
        unlike = layers.dropout_difference(one.label, one.result, other.label, other.result)
    if unlike is not None:
        return _unequal(*unlike, (one, other), faults, compared)
    unasked = _unasked(one, other, rule)
    if unasked or lacking or undecided:
        work = WorkParity.NOT_COMPARABLE if unasked else WorkParity.NOT_CHECKED
        return PairParity(work, unasked or lacking or undecided, differences=compared)
    return PairParity(WorkParity.SAME, note=_note(one, other, compared, rule), differences=compared)


def _of_quantised(one: ParitySide, other: ParitySide, mode: Mode, faults: Sequence[KnownFault]) -> PairParity:
    """Judge two cells of which one is quantised at least, by bars of their own."""
    unasked = _unasked(one, other, RULES[mode].parity)
    if unasked:
        return PairParity(WorkParity.NOT_COMPARABLE, unasked)
    if lacking := quantised.missing(one, other):
        return PairParity(WorkParity.NOT_CHECKED, lacking)
    compared = quantised.differences(one, other)
    unlike = _over_its_bar(compared)
    if unlike is not None:
        return _unequal(*unlike, (one, other), faults, compared)
    alike = one.quantisation == other.quantisation
    work = WorkParity.QUANTISED_ALIKE if alike else WorkParity.QUANTISED
    return PairParity(work, note=quantised.note(one, other, compared), differences=compared)


def _other_file(one: ParitySide, other: ParitySide) -> str:
    """Return in one line that two sides were given different networks, sizes or inputs, or an empty text."""
    files = [(side.label, side.result.network) for side in (one, other) if side.result]
    if len({network for _, network in files}) < len(files):
        return ""
    named = (f"{label} ran {network[:12] if network else 'a model of the vocabulary'}" for label, network in files)
    return f"other files, sizes or inputs: {', '.join(named)}"


def _checked_differently(versions: tuple[int, int], batch_sizes: tuple[int, int]) -> str:
    """Return the difference of two ways of checking, which keeps answers from being compared, or an empty text."""
    if versions[0] != versions[1]:
        return f"checked in different ways (measurement_version {versions[0]}, {versions[1]})"
    if batch_sizes[0] != batch_sizes[1]:
        return f"checked on different batches ({batch_sizes[0]} and {batch_sizes[1]} samples)"
    return ""


def _of_outputs(
    one: ParitySide,
    other: ParitySide,
    evidence: tuple[OutputEvidence, OutputEvidence],
    faults: Sequence[KnownFault],
) -> PairParity:
    """Judge two cells by the outputs that their results hold."""
    a, b = evidence
    if a.outputs is None or b.outputs is None:
        lacking = [side.label for side, each in zip((one, other), evidence, strict=True) if each.outputs is None]
        return PairParity(WorkParity.NOT_CHECKED, f"no output of {' and '.join(lacking)}")
    if a.measurement_version != b.measurement_version:
        versions = f"{a.measurement_version}, {b.measurement_version}"
        return PairParity(WorkParity.NOT_CHECKED, f"checked in different ways (measurement_version {versions})")
    compared = tuple(output_differences((one.label, a.outputs), (other.label, b.outputs), min(a.bar, b.bar)))
    unlike = _over_its_bar(compared)
    if unlike is not None:
        return _unequal(*unlike, (one, other), faults, compared)
    return PairParity(WorkParity.SAME, differences=compared)


def _over_its_bar(differences: Sequence[Difference]) -> tuple[str, Evidence] | None:
    """Return the first difference that exceeds its bar, with the number of the others, or None."""
    broken = [difference for difference in differences if not difference.within]
    if not broken:
        return None
    more = f" (and {len(broken) - 1} more over their bars)" if len(broken) > 1 else ""
    return broken[0].text + more, broken[0].evidence


def _unasked(one: ParitySide, other: ParitySide, rule: ParityRule) -> str:
    """Return the parts that a rule asks of a session and some answers lack, or an empty text."""
    answered = {side.label: side.result.lacking for side in (one, other) if side.result}
    lacking = {label: [name for name in names if name in rule.asked] for label, names in answered.items()}
    return "; ".join(f"{label} without {', '.join(names)}" for label, names in lacking.items() if names)


def _unanswered(one: ParitySide, other: ParitySide, faults: Sequence[KnownFault]) -> PairParity:
    """Return the verdict on a pair in which a side has no answer.

    The other side may know the kinds of layers of the model.
    """
    without = [side for side in (one, other) if side.result is None]
    reasons = dict.fromkeys(side.why_not for side in without)
    named = (f"{side.label}: {side.why_not}" for side in without)
    reason = next(iter(reasons)) if len(reasons) < len(without) else "; ".join(named)
    kinds = {kind for side in (one, other) if side.result for kind in layers.kinds(side.result)}
    known = dict.fromkeys(
        f"{side.framework.label}: {fault.fault}"
        for side in without
        for fault in faults
        if "failure" in fault.explains and meets(fault, side, kinds)
    )
    return PairParity(WorkParity.NOT_CHECKED, reason, "; ".join(known))


def _note(one: ParitySide, other: ParitySide, differences: Sequence[Difference], rule: ParityRule) -> str:
    steps = optimizer.notes(one, other) if "optimizer" in rule.compared else ()
    ties = generated.note(one, other) if "tokens" in rule.compared else ""
    return "; ".join(filter(None, (_about_precision(one, other, differences), ties, *steps)))


def _about_precision(one: ParitySide, other: ParitySide, differences: Sequence[Difference]) -> str:
    if one.precision == other.precision == FULL_PRECISION:
        eased = (each for each in differences if each.evidence == "gradients" and each.bar == EXACT.at_edges)
        return "; ".join(f"rounding at the edge of a ReLU or max pool: {each.text}" for each in eased)
    if one.precision == other.precision:
        return f"both in {one.precision}: held to the wide bars of reduced precision"
    return f"the same model in different arithmetic ({one.label}: {one.precision}, {other.label}: {other.precision})"


def _unequal(
    reason: str,
    evidence: Evidence,
    sides: tuple[ParitySide, ParitySide],
    faults: Sequence[KnownFault],
    differences: tuple[Difference, ...],
) -> PairParity:
    known = dict.fromkeys(
        f"{side.framework.label}: {fault.fault}"
        for side in sides
        for fault in faults
        if explains(fault, evidence, side)
    )
    return PairParity(WorkParity.NOT_COMPARABLE, reason, "; ".join(known), differences=differences)


def explains(fault: KnownFault, evidence: Evidence, side: ParitySide) -> bool:
    """Return true if a known fault can be the reason of a difference on one side of a pair."""
    if side.result is None or evidence not in fault.explains:
        return False
    return meets(fault, side, layers.kinds(side.result))


def meets(fault: KnownFault, side: ParitySide, kinds: Set[str]) -> bool:
    """Return true if a fault applies to a side with these kinds of layers."""
    facts = side.result.facts if side.result else {}
    settings = {**dict(side.options), **facts}  # the facts hold the outcome of `layout: auto`
    return (
        any(parse_pin(text).holds(side.framework) for text in fault.frameworks)
        and set(fault.layers) <= kinds
        and all(name not in settings or settings[name] == value for name, value in fault.options.items())
    )
