"""The rounds of a proof that count: those in which a cell met all others on the GPU that it had alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orchestrator.domain import Outcome, Status
from orchestrator.errors import HostError
from orchestrator.results.contract import Result
from orchestrator.results.store import Run
from orchestrator.workflows.fitness.interference import ProofRound, proof_of, rounds_that_count
from tests.unit.reporting import synthetic as s

CELL = s.cell(s.MXNET, repeats=6)


@dataclass(frozen=True)
class Rates(Run):
    """A run whose repeats have the rates that are given."""

    rates: tuple[float, ...] = ()

    def result(self, outcome: Outcome) -> Result | None:
        return s.result(CELL, outcome.repeat, self.rates[outcome.repeat], spread=0.0)


def an_outcome(repeat: int, gpu: int, beside: str = "") -> Outcome:
    return Outcome(CELL.id, repeat, Status.OK, ran_on=f"GPU-{gpu}", beside=beside)


def pairs(rates: tuple[float, ...], outcomes: list[Outcome]) -> list[Any]:
    counted = list(rounds_that_count(Rates(Path("run"), rates), outcomes, at_once=2))
    assert all(each.cpu_cores == pytest.approx(1.9) for each in counted)
    return [(each.beside, each.alone) for each in counted]


def test_rates_of_one_gpu_are_paired() -> None:
    """Two rounds on two GPUs, whose cells end in any order."""
    outcomes = [
        an_outcome(0, 0), an_outcome(2, 1, "c/1"), an_outcome(1, 0, "c/2"),
        an_outcome(3, 1), an_outcome(4, 0, "c/5"), an_outcome(5, 1, "c/4"),
    ]  # fmt: skip

    assert pairs((100.0, 90.0, 50.0, 200.0, 50.0, 190.0), outcomes) == [
        (pytest.approx(90), pytest.approx(100)),
        (pytest.approx(190), pytest.approx(200)),
    ]


def test_cells_that_never_met_count_for_nothing() -> None:
    """A cell that ended before the others began has not run beside them."""
    assert pairs((100.0, 90.0, 50.0), [an_outcome(0, 0), an_outcome(1, 0), an_outcome(2, 1)]) == []
    assert pairs((100.0, 90.0, 50.0), [an_outcome(1, 0, "c/2"), an_outcome(2, 1, "c/1")]) == []


def test_too_few_rounds_prove_nothing() -> None:
    with pytest.raises(HostError, match="in 2 rounds the cell ran beside all others, and 3 are needed"):
        proof_of(Run(Path("run")), CELL, [ProofRound(1.0, 1.0, None)] * 2)

    assert proof_of(Run(Path("run")), CELL, [ProofRound(1.0, 1.0, None)] * 3).holds
    assert not proof_of(Run(Path("run")), CELL, [ProofRound(0.9, 1.0, None)] * 3).holds


def test_a_proof_tells_the_busy_cores() -> None:
    """As the median of the rounds; where blocks are too short for it, nothing."""
    busy = [ProofRound(1.0, 1.0, cores) for cores in (3.0, 1.5, 1.0, None)]

    assert proof_of(Run(Path("run")), CELL, busy).cpu_cores == 1.5
    assert proof_of(Run(Path("run")), CELL, [ProofRound(1.0, 1.0, None)] * 3).cpu_cores is None
