"""Which cells do the same work, judged pair by pair from what their parity containers answered.

`docs/measurement.md` says what is compared and where the bars come from.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from orchestrator.analysis import shapes
from orchestrator.catalog.faults import Evidence, KnownFault
from orchestrator.domain import Framework, Mode, Options
from orchestrator.matrix import pins
from orchestrator.results.parity import ParityResult, Tensor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FULL_PRECISION: Final = "fp32"
NOISE: Final = 1e-5
"""Share of the norm of all tensors together below which a tensor is rounding: where both sides are, they are equal."""


_NEEDED: Final[tuple[dict[Evidence, str], ...]] = (
    {"weights": "initial values", "gradients": "first gradients"},
    {"weights": "initial values", "logits": "logits of the step that is timed"},
)
"""Tensors without which nobody can call it the same work: of training, of inference."""


_LED_BY: Final[dict[Evidence, str]] = {
    "weights": "initial values of",
    "gradients": "first gradient of",
    "logits": "",
}


class Work(StrEnum):
    """What may be said of the work of two cells."""

    SAME = "same work"
    NOT_COMPARABLE = "not comparable"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Bars:
    """Largest relative differences that two cells of the same work may show."""

    weights: float
    """Of each initial tensor's values, as a relative norm; so are `gradients` and `logits`."""
    first_loss: float
    gradients: float
    losses: tuple[tuple[str, float], ...]
    """After so many steps."""
    logits: float
    at_edges: float = 0.0
    """Of a first gradient over its bar whose tensor lies in front of a ReLU or a max pool; where it is not the higher
    one it says nothing."""


EXACT = Bars(weights=1e-6, first_loss=1e-5, gradients=1e-4, losses=(("10", 1e-4),), logits=1e-4, at_edges=1e-2)
"""A value that rounding moves over the edge of a ReLU takes one summand of thousands out of the gradients in front of
it, and nothing behind it tells: that is no other work, and is noted. Everything else must keep its own bar."""
WITH_BATCH_NORM = Bars(weights=1e-6, first_loss=1e-5, gradients=0.1, losses=(("3", 1e-3), ("10", 1e-2)), logits=1e-4)
"""Batch norm amplifies rounding from step to step. Rounding also moves some values over the edge of a ReLU, where the
gradient jumps: ResNet20's in float32 is up to 2.3e-2 away from that in float64, computed by the same program."""
REDUCED = Bars(weights=2**-8, first_loss=2e-2, gradients=0.2, losses=(("10", 5e-2),), logits=0.1)
"""Where a side computes in fewer bits: wide enough for the rounding of bfloat16, a guard against another model only."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that was compared, at its worst."""

    evidence: Evidence
    what: str
    """`first loss`, `first gradient of conv2d_1.weight`."""
    value: float
    """Relative."""
    bar: float
    detail: str = ""
    """Both values, where they say something to people."""

    @property
    def within(self) -> bool:
        """Whether the bar is kept."""
        return self.value <= self.bar

    @property
    def text(self) -> str:
        """`first loss 2.31 in torch 2.13.0, 2.29 in mxnet 1.9.1: 0.0087 apart, bar 1e-05`."""
        return f"{self.what}{f' {self.detail}' if self.detail else ''}: {self.value:.2g} apart, bar {self.bar:g}"


@dataclass(frozen=True, slots=True)
class PairParity:
    """The verdict on two cells; it is the same seen from either."""

    work: Work
    reason: str = ""
    """One line; empty only for the same work."""
    known_fault: str = ""
    """What explains a difference, where a framework is known for it."""
    note: str = ""
    """What weakens a verdict of the same work, such as reduced precision."""
    differences: tuple[Difference, ...] = ()
    """Everything that was compared, in order; the worst tensor stands for all gradients."""


@dataclass(frozen=True)
class Side:
    """One cell of a pair: who it is, and what its parity container answered or why there is no answer."""

    label: str
    framework: Framework
    options: Options
    result: ParityResult | None
    why_not: str = ""
    """One line; empty only where there is a result."""

    @property
    def precision(self) -> str:
        """As the options have it."""
        return str(dict(self.options).get("precision", FULL_PRECISION))

    @cached_property
    def tensors(self) -> Mapping[str, "_Stack"]:
        """Initial weights, first gradients and logits of timed inference, ready to be compared."""
        if self.result is None:
            return {}
        logits = {"logits": self.result.inferred} if self.result.inferred else {}
        return {
            "weights": _Stack.of(self.result.weights),
            "gradients": _Stack.of(self.result.gradients),
            "logits": _Stack.of(logits),
        }

    def lacks(self, mode: Mode, limits: "Bars") -> Iterator[str]:
        """Name what the same work in a mode is known by, and this side's answer does not hold."""
        for evidence, name in _NEEDED[mode is Mode.INFER].items():
            if not self.tensors[evidence].names:
                yield name
        if self.result and mode is not Mode.INFER:
            yield from (f"loss after {steps} steps" for steps, _ in limits.losses if steps not in self.result.losses)


@dataclass(frozen=True, slots=True)
class _Stack:
    """Tensors laid side by side: the sketches in one row of numbers, and where each begins."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    values: "npt.NDArray[np.float64]"
    norms: "npt.NDArray[np.float64]"

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> "_Stack":
        import numpy as np  # noqa: PLC0415 - a fifth of a second, which no command should pay that compares nothing

        names = tuple(sorted(tensors))
        return cls(
            names,
            tuple(len(tensors[name].sketch) for name in names),
            np.array([value for name in names for value in tensors[name].sketch], dtype=np.float64),
            np.array([tensors[name].norm for name in names], dtype=np.float64),
        )

    def apart(self, other: "_Stack") -> "npt.NDArray[np.float64]":
        """Relative norm of the difference of each tensor; both must hold tensors of the same names and lengths.

        The difference of two sketches is the sketch of the difference, whose norm estimates that of the difference
        itself, with a standard error of √(2/1024), 4 %; where a sketch is the values themselves, it is exact.
        """
        import numpy as np  # noqa: PLC0415 - as above

        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)
        distances = np.sqrt(np.add.reduceat((self.values - other.values) ** 2, starts))
        largest = np.maximum(self.norms, other.norms)
        felt = largest > NOISE * float(np.sqrt(np.sum(largest**2)))
        relative: npt.NDArray[np.float64] = np.divide(distances, largest, out=np.zeros_like(distances), where=felt)
        return relative


def matrix(
    sides: Sequence[Side], mode: Mode, faults: Sequence[KnownFault] = ()
) -> tuple[tuple[PairParity | None, ...], ...]:
    """Judge every pair of a group; symmetric, None on the diagonal."""
    size = len(sides)
    found: list[list[PairParity | None]] = [[None] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1, size):
            found[i][j] = found[j][i] = pair(sides[i], sides[j], mode, faults)
    return tuple(tuple(row) for row in found)


def pair(one: Side, other: Side, mode: Mode, faults: Sequence[KnownFault] = ()) -> PairParity:
    """Judge two cells that are to do the same work in the same mode."""
    if one.result is None or other.result is None:
        without = [side for side in (one, other) if side.result is None]
        reasons = dict.fromkeys(side.why_not for side in without)
        named = (f"{side.label}: {side.why_not}" for side in without)
        return PairParity(Work.NOT_CHECKED, next(iter(reasons)) if len(reasons) < len(without) else "; ".join(named))
    versions = (one.result.measurement_version, other.result.measurement_version)
    if versions[0] != versions[1]:
        return PairParity(
            Work.NOT_CHECKED, f"checked in different ways (measurement_version {versions[0]}, {versions[1]})"
        )
    unequal = shapes.difference(one.label, one.result, other.label, other.result)
    if unequal:
        return _unequal(unequal, "shapes", (one, other), faults, ())
    differences, missing = _differences(one, other, mode), _missing(one, other, mode)
    broken = [difference for difference in differences if not difference.within]
    if broken:
        more = f" (and {len(broken) - 1} more over their bars)" if len(broken) > 1 else ""
        return _unequal(broken[0].text + more, broken[0].evidence, (one, other), faults, differences)
    if missing:
        return PairParity(Work.NOT_CHECKED, missing, differences=differences)
    return PairParity(Work.SAME, note=_note(one, other, differences), differences=differences)


def bars(one: Side, other: Side) -> Bars:
    """The bars that a pair is held to."""
    if {one.precision, other.precision} != {FULL_PRECISION}:
        return REDUCED
    kinds = {kind for side in (one, other) if side.result for kind in shapes.kinds(side.result)}
    return WITH_BATCH_NORM if "batch_norm" in kinds else EXACT


def _note(one: Side, other: Side, differences: Sequence[Difference]) -> str:
    if one.precision == other.precision == FULL_PRECISION:
        eased = (each for each in differences if each.evidence == "gradients" and each.bar == EXACT.at_edges)
        return "; ".join(f"rounding at the edge of a ReLU or max pool: {each.text}" for each in eased)
    if one.precision == other.precision:
        return f"both in {one.precision}: held to the wide bars of reduced precision"
    return f"the same model in different arithmetic ({one.label}: {one.precision}, {other.label}: {other.precision})"


def _unequal(
    reason: str,
    evidence: Evidence,
    sides: tuple[Side, Side],
    faults: Sequence[KnownFault],
    differences: tuple[Difference, ...],
) -> PairParity:
    known = dict.fromkeys(
        f"{side.framework.label}: {fault.fault}"
        for side in sides
        for fault in faults
        if explains(fault, evidence, side)
    )
    return PairParity(Work.NOT_COMPARABLE, reason, "; ".join(known), differences=differences)


def explains(fault: KnownFault, evidence: Evidence, side: Side) -> bool:
    """Whether a known fault can be the reason of a difference on one side of a pair."""
    if side.result is None or evidence not in fault.explains:
        return False
    given = {**dict(side.options), **side.result.facts}  # what `layout: auto` came to, the facts say
    return (
        any(pins.parse(text).holds(side.framework) for text in fault.frameworks)
        and set(fault.layers) <= shapes.kinds(side.result)
        and all(name not in given or given[name] == value for name, value in fault.options.items())
    )


def _missing(one: Side, other: Side, mode: Mode) -> str:
    """What would have to be compared too, and who does not tell it, in one line; empty where nothing is missing."""
    limits, lacking = bars(one, other), dict[str, list[str]]()
    for side in (one, other):
        for what in side.lacks(mode, limits):
            lacking.setdefault(what, []).append(side.label)
    return "; ".join(f"no {what} of {' and '.join(labels)}" for what, labels in lacking.items())


def _differences(one: Side, other: Side, mode: Mode) -> tuple[Difference, ...]:
    """Everything that the two results let compare."""
    a, b, limits = one.result, other.result, bars(one, other)
    if a is None or b is None:
        raise ValueError("both sides must have a result")
    found = [*_tensors("weights", one, other, limits.weights)]
    found.append(_loss("first loss", (one.label, a.first_loss), (other.label, b.first_loss), limits.first_loss))
    if mode is Mode.INFER:
        return (*found, *_tensors("logits", one, other, limits.logits))
    in_front = shapes.in_front_of_edges(a)
    found += _tensors("gradients", one, other, limits.gradients, (limits.at_edges, in_front))
    for steps, bar in limits.losses:
        if steps in a.losses and steps in b.losses:
            ends = (one.label, a.losses[steps]), (other.label, b.losses[steps])
            found.append(_loss(f"loss after {steps} steps", *ends, bar, evidence="losses"))
    return tuple(found)


def _loss(
    what: str, one: tuple[str, float], other: tuple[str, float], bar: float, evidence: Evidence = "first_loss"
) -> Difference:
    (label, value), (other_label, other_value) = one, other
    largest = max(abs(value), abs(other_value))
    apart = abs(value - other_value) / largest if largest else 0.0
    return Difference(evidence, what, apart, bar, f"{value:.6g} in {label}, {other_value:.6g} in {other_label}")


def _tensors(
    evidence: Evidence, one: Side, other: Side, bar: float, eased: tuple[float, Set[str]] = (0.0, frozenset())
) -> Iterator[Difference]:
    """The worst of the tensors that both sides give; nothing where one gives none at all.

    `eased` is a higher bar and the layers it holds for; the worst that needs it is told besides.
    """
    a, b, led_by = one.tensors[evidence], other.tensors[evidence], _LED_BY[evidence]
    if not a.names or not b.names:
        return
    if a.names != b.names or a.lengths != b.lengths:
        sizes, others = dict(zip(a.names, a.lengths, strict=True)), dict(zip(b.names, b.lengths, strict=True))
        name = min(name for name in {*sizes, *others} if sizes.get(name) != others.get(name))
        where = " and ".join(f"{side.label}" for side, had in ((one, sizes), (other, others)) if name in had)
        yield Difference(evidence, f"{led_by} {name}".strip(), 1.0, bar, f"are of another size, or only in {where}")
        return
    easier, layers = eased
    apart = [(float(value), name) for value, name in zip(a.apart(b), a.names, strict=True)]
    at_edges = [each for each in apart if bar < each[0] <= easier and each[1].rpartition(".")[0] in layers]
    for limit, tensors in ((bar, [each for each in apart if each not in at_edges]), (easier, at_edges)):
        if tensors:
            value, name = max(tensors)
            yield Difference(evidence, f"{led_by} {name}".strip(), value, limit)
