"""Whether two cells may be compared at all: the same work, measured in the same way in the same environment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestrator.analysis.parity import PairParity, Work, pair
from orchestrator.analysis.sides import Side as ParitySide
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Status
from orchestrator.planning import check_id, checks
from orchestrator.results.contract import Result
from orchestrator.results.evidence import read_check
from orchestrator.results.store import Run

_FACTS = (
    ("python", "Python"),
    ("cpu", "CPU"),
    ("cpus", "CPUs"),
    ("threads_asked", "threads asked for"),
    ("threads", "threads"),
    ("precision", "precision"),
)
"""What a container says of its surroundings and must say on both sides."""
HOST = (("machine", "machine"), ("cpu", "CPU"), ("cpus", "CPUs"), ("gpus", "GPUs"))
"""What a run's record says of its host and must say on both sides, with the title of each."""


@dataclass(frozen=True, slots=True)
class Surrounding:
    """What the containers of one cell say of the environment that they measured in."""

    measurement_versions: frozenset[int]
    facts: Mapping[str, frozenset[str]]


def surrounding(results: Iterable[Result]) -> Surrounding:
    """Gather it from all results of a cell."""
    versions: set[int] = set()
    facts: dict[str, set[str]] = {}
    for result in results:
        versions.add(result.measurement_version)
        for name, _ in _FACTS:
            value = result.facts.get(name)
            if value is not None:
                facts.setdefault(name, set()).add(_short(name, value))
    return Surrounding(frozenset(versions), {name: frozenset(values) for name, values in facts.items()})


def told(found: Surrounding) -> dict[str, str]:
    """What is known of all that must be the same on both sides, by title; what no result tells is not there."""
    versions = {"measurement_version": found.measurement_versions} if found.measurement_versions else {}
    facts = {title: found.facts[name] for name, title in _FACTS if name in found.facts}
    return {title: _joined(values) for title, values in (*versions.items(), *facts.items())}


def environment_difference(one: Surrounding, other: Surrounding) -> str:
    """Why two cells were not measured alike, in one line; empty where nothing speaks against it."""
    there = told(other)
    for title, value in told(one).items():
        if there.get(title, value) != value:
            return f"environment: {title} {value} against {there[title]}"
    return ""


Placed = tuple[Run, Cell]
"""A cell, and the run that has measured it."""


def parity(one: Placed, other: Placed, faults: Iterable[KnownFault]) -> PairParity:
    """Whether two cells do the same work, from what their parity checks have answered in their runs."""
    labels = _labels(one[1], other[1])
    sides = [_side(run, cell, label) for (run, cell), label in zip((one, other), labels, strict=True)]
    return pair(sides[0], sides[1], one[1].workload.mode, tuple(faults))


def parity_notes(parity: PairParity | None) -> tuple[str, ...]:
    """Return what parity leaves open if it does not rule out a comparison; None means that it was not asked for."""
    if parity is None:
        return ("parity was not asked for: nothing says that both sides do the same work",)
    if parity.work is Work.NOT_CHECKED:
        return (f"parity: not checked: {parity.reason}",)
    return (f"parity: {parity.note}",) if parity.note else ()


def is_checked(run: Run, cell: Cell) -> bool:
    """Whether a run asks a cell's parity: of what computes nothing it does not."""
    return check_id(cell) in {check.id for check in checks(run.plan())}


def work_difference(found: PairParity) -> str:
    """Why two cells do not the same work, in one line; empty where nothing is known to speak against it."""
    if found.work is not Work.NOT_COMPARABLE:
        return ""
    return f"parity: {found.reason}" + (f" (known fault of {found.known_fault})" if found.known_fault else "")


def loss(run: Run, cell: Cell) -> float | None:
    """The loss of a cell's parity check after its last steps; None where there is no answer."""
    found = _side(run, cell, "").result
    return found.losses[max(found.losses, key=int)] if found and found.losses else None


def _side(run: Run, cell: Cell, label: str) -> ParitySide:
    stored = read_check(run, check_id(cell))
    reason = "no parity check of it was recorded" if run.plan().parity else f"parity was not asked for in {run.name}"
    if stored.rot:
        reason = f"its parity check is not readable: {stored.rot}"
    elif stored.outcome is not None and stored.outcome.status is not Status.OK:
        reason = f"its parity check ended as {stored.outcome.status.value}: {stored.outcome.reason}"
    return ParitySide(label, cell.framework, cell.options, stored.result, "" if stored.result else reason)


def _labels(one: Cell, other: Cell) -> tuple[str, str]:
    if one.framework.label != other.framework.label:
        return one.framework.label, other.framework.label
    return f"{one.framework.label} (baseline)", f"{other.framework.label} (candidate)"


def _short(name: str, value: object) -> str:
    """A fact as it is compared: of Python, the release line."""
    text = str(value)
    return ".".join(text.split(".")[:2]) if name == "python" else text


def _joined(values: Iterable[object]) -> str:
    return " | ".join(sorted(map(str, values)))
