"""Comparability of two cells in work, way of measuring, and environment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.analysis.parity.sides import ParitySide, output_evidence
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.catalog import KnownFault
from orchestrator.domain import Cell, Status
from orchestrator.planning import check_id, checks
from orchestrator.results.contract import Result
from orchestrator.results.evidence import StoredCheck, read_check, read_outputs
from orchestrator.results.scripts.contract import ScriptResult
from orchestrator.results.store import Run

DATASET_FILES, OWN_FILES, STAND_IN = "files of the dataset", "its own", "a stand-in"
_FACTS = (
    ("python", "Python"),
    ("cpu", "CPU"),
    ("cpus", "CPUs"),
    ("threads_asked", "threads asked for"),
    ("threads", "threads"),
    ("precision", "precision"),
    ("data", DATASET_FILES),
    ("network", "ONNX file, sizes and inputs"),
)
"""Facts of its surroundings that a container reports, which must be equal on both sides."""
HOST = (("machine", "machine"), ("cpu", "CPU"), ("cpus", "CPUs"), ("gpus", "GPUs"))
"""Facts of its host that a run's record reports, with their titles, which must be equal on both sides."""


_OF_GPUS = ("index", "uuid", "name", "memory_bytes")
"""Facts of a GPU that make it another one. Limits and modes that an administrator sets do not."""


def host_fact(host: Mapping[str, Any], fact: str) -> Any:
    """Return a fact of a host as it is compared, or None if the host does not report it."""
    value = host.get(fact)
    if fact != "gpus" or not isinstance(value, list):
        return value
    return [{name: gpu.get(name) for name in _OF_GPUS} for gpu in value if isinstance(gpu, dict)]


@dataclass(frozen=True, slots=True)
class Surrounding:
    """The environment of one cell, as its containers reported it."""

    measurement_versions: frozenset[int]
    facts: Mapping[str, frozenset[str]]


def surrounding(results: Iterable[Result | ScriptResult]) -> Surrounding:
    """Gather the environment from all results of a cell."""
    versions: set[int] = set()
    facts: dict[str, set[str]] = {}
    for result in results:
        versions.add(result.measurement_version)
        for name, _ in _FACTS:
            value = result.facts.get(name)
            if value is not None:
                facts.setdefault(name, set()).add(environment_fact(name, value))
    return Surrounding(frozenset(versions), {name: frozenset(values) for name, values in facts.items()})


def reported(environment: Surrounding) -> dict[str, str]:
    """Return every condition that must be equal on both sides, by title, if a result reports it."""
    return {title: _joined(values) for title, values in _conditions(environment).items()}


def _conditions(environment: Surrounding) -> dict[str, frozenset[object]]:
    versions: frozenset[object] = frozenset(environment.measurement_versions)
    facts = {title: frozenset[object](environment.facts[name]) for name, title in _FACTS if name in environment.facts}
    return {"measurement_version": versions, **facts} if versions else facts


def environment_difference(one: Surrounding, other: Surrounding) -> str:
    """Return the first difference between two environments, or within one, in one line, or an empty text."""
    for side in (one, other):
        for title, values in _conditions(side).items():
            if len(values) > 1:
                return f"environment: {title} {_joined(values)} within one side"
    there = reported(other)
    for title, value in reported(one).items():
        if there.get(title, value) != value:
            return f"environment: {title} {value} against {there[title]}"
    return ""


Placed = tuple[Run, Cell]
"""A cell, and the run that has measured it."""


def parity(one: Placed, other: Placed, faults: Iterable[KnownFault]) -> PairParity:
    """Return the parity of two cells, from the answers of their parity checks."""
    labels = _labels(one[1], other[1])
    sides = [_side(run, cell, label) for (run, cell), label in zip((one, other), labels, strict=True)]
    return pair(sides[0], sides[1], one[1].workload.mode, tuple(faults))


OF_SCRIPT = "its figures are printed by the script, which alone decides what it times"
"""The note on a script, in place of one on parity."""


def parity_notes(parity: PairParity | None) -> tuple[str, ...]:
    """Return the notes on a parity that does not rule out a comparison, where None is a parity without a check."""
    if parity is None:
        return ("parity was not asked for: nothing says that both sides do the same work",)
    if parity.work is WorkParity.NOT_CHECKED:
        return (f"parity: not checked: {parity.reason}",)
    return (f"parity: {parity.note}",) if parity.note else ()


def is_checked(run: Run, cell: Cell) -> bool:
    """Return true if a run checks the parity of a cell, which it does not if the cell computes nothing."""
    if cell.workload.rules.subjects:
        return run.plan().parity
    return check_id(cell) in {check.id for check in checks(run.plan())}


def is_answered(run: Run, cell: Cell) -> bool:
    """Return true if a parity check of a cell has stored an answer, whether the plan asks for one or not.

    The results of an operator answer for themselves.
    """
    if cell.workload.rules.subjects:
        return read_outputs(run, cell) is not None
    return read_check(run, check_id(cell)).result is not None


def work_difference(parity: PairParity) -> str:
    """Return the difference in work in one line, or an empty text if none is known."""
    if not parity.is_other_work:
        return ""
    return f"parity: {parity.reason or parity.note}" + (
        f" (known fault of {parity.known_fault})" if parity.known_fault else ""
    )


def loss(run: Run, cell: Cell) -> float | None:
    """Return the loss of a cell's parity check after its last steps, or None without an answer."""
    answer = read_check(run, check_id(cell)).result
    return answer.losses[max(answer.losses, key=int)] if answer and answer.losses else None


def _side(run: Run, cell: Cell, label: str) -> ParitySide:
    if cell.workload.rules.subjects:
        return ParitySide(label, cell.framework, cell.options, None, output=output_evidence(run, cell))
    stored = read_check(run, check_id(cell))
    reason = "" if stored.result else _unanswered_reason(run, stored)
    return ParitySide(label, cell.framework, cell.options, stored.result, reason, cell.parity_batch)


def _unanswered_reason(run: Run, stored: StoredCheck) -> str:
    """Return the reason a parity check has no answer."""
    if stored.rot:
        return f"its parity check is not readable: {stored.rot}"
    if stored.outcome is not None and stored.outcome.status is not Status.OK:
        return f"its parity check ended as {stored.outcome.status.value}: {stored.outcome.reason}"
    return "no parity check of it was recorded" if run.plan().parity else f"parity was not asked for in {run.name}"


def _labels(one: Cell, other: Cell) -> tuple[str, str]:
    if one.framework.label != other.framework.label:
        return one.framework.label, other.framework.label
    return f"{one.framework.label} (baseline)", f"{other.framework.label} (candidate)"


def environment_fact(name: str, value: object) -> str:
    """Return a fact as it is compared, and an empty text if it is unknown.

    Of Python it is the release line. Of a dataset it says if the files were a stand-in. Of the CPU it has the number of
    those that the process may use, as cells in turn on the GPUs of a host have others each time.
    """
    if name == "cpu" and isinstance(value, Mapping) and isinstance(value.get("affinity"), Sequence):
        return _cpu_text(value)
    if name == "data" and isinstance(value, Mapping):
        return STAND_IN if value.get("stand_in") else OWN_FILES
    text = "" if value is None else str(value)
    if name == "network":
        return text[:12]
    return ".".join(text.split(".")[:2]) if name == "python" else text


def _cpu_text(cpu: Mapping[str, Any]) -> str:
    """Return a CPU as it is compared, such as `AMD EPYC, 4 of 64 CPUs, governor performance`."""
    share = f"{len(cpu['affinity'])} of {cpu.get('logical')} CPUs"
    return ", ".join([str(cpu.get("model")), share, *([f"governor {cpu['governor']}"] if cpu.get("governor") else [])])


def _joined(values: Iterable[object]) -> str:
    return " | ".join(sorted(map(str, values)))
