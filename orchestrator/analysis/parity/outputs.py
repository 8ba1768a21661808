"""The outputs of an operator, compared with the reference in float64 and with those of another cell."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.analysis.parity.differences import Difference
from orchestrator.domain import Cell
from orchestrator.results.evidence import read_outputs
from orchestrator.results.outputs import Outputs
from orchestrator.results.store import Run


@dataclass(frozen=True, slots=True)
class OutputEvidence:
    """The outputs that the results of a cell hold, and the bar that they must keep."""

    bar: float
    outputs: Outputs | None
    """None if no result holds any."""
    measurement_version: int | None = None


def output_evidence(run: Run, cell: Cell) -> OutputEvidence:
    """Read the outputs of a cell whose mode states a bar for each of its subjects."""
    bar, stored = cell.workload.rules.parity.output_bars.get(cell.workload.model, 0.0), read_outputs(run, cell)
    return OutputEvidence(bar, *stored) if stored else OutputEvidence(bar, None)


def differences(one: tuple[str, Outputs], other: tuple[str, Outputs], bar: float) -> Iterator[Difference]:
    """Yield the error of each output, and the distance between the two. Each is a share of their scale."""
    for label, outputs in (one, other):
        yield Difference("outputs", f"output of {label} and of NumPy in float64", outputs.error, bar)
    yield Difference("outputs", f"outputs of {one[0]} and of {other[0]}", _apart(one[1], other[1]), bar)


def _apart(one: Outputs, other: Outputs) -> float:
    if one.elements != other.elements or len(one.sketch) != len(other.sketch):
        return 1.0
    distance = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(one.sketch, other.sketch, strict=True)))
    scale = max(one.scale, other.scale)
    # A sketch is rounded to nine digits, and says nothing of what is less.
    rounding = 1e-9 * math.sqrt(math.fsum(value**2 for value in one.sketch))
    return max(0.0, distance - rounding) / scale if scale else distance
