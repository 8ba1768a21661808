"""Warnings of a report on cells that ran on different GPUs, and their ranks."""

from dataclasses import replace

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.ratios import Rank
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.groups import MOST_IN_MATRIX
from orchestrator.results.evidence import Stored
from orchestrator.results.records import ProvedWith
from tests.unit.reporting import synthetic as s

HEAVIER = (
    ", which kept 0.50 CPU cores busy; 2 of 2 cells kept over a tenth more busy, the most {0} 1.90 and {1} 1.90: "
    "prove it with such a cell (orchestrator doctor --interference --select '{0}')"
)


def warnings(
    *, ran_on: list[str], beside: str, idle_builders: tuple[str, ...] = (), proved_with: ProvedWith | None = None,
    samples_per_s: float = 100.0,
) -> list[str]:  # fmt: skip
    """The warnings on two cells, of which the second is twice as fast, on GPUs each 20 % slower than the one before."""
    cells = [s.cell(each, repeats=len(ran_on)) for each in (s.MXNET, s.TORCH)]
    stored: list[Stored] = []
    for number, cell in enumerate(cells):
        rates = [(1 + number) * samples_per_s * (1.0 - 0.2 * int(gpu[-1])) for gpu in ran_on]
        stored += [
            replace(each, outcome=replace(each.outcome, ran_on=gpu, beside=beside))
            for each, gpu in zip(s.ok(cell, rates, spread=0.0), ran_on, strict=True)
        ]
    plan = s.plan(cells)
    record = s.record(plan).model_copy(update={"proved_with": proved_with})
    return [
        warning
        for warning in compose(record, plan, stored, idle_builders=idle_builders).warnings
        if "GPU" in warning or "proved" in warning
    ]


def test_neighbours_and_differences_of_gpus_are_told() -> None:
    neighbours, differences = warnings(ran_on=["GPU-0", "GPU-1"], beside="other/0")

    assert neighbours.startswith("4 of 4 repeats on GPUs ran beside others, each with its share of the CPUs")
    assert differences == (
        "speed of each GPU over the mean of all, estimated from 4 repeats: GPU-0 1.118 and GPU-1 0.894"
    )


@pytest.mark.parametrize(
    ("cpu_cores", "said"),
    [
        (1.9, ", and none of 2 cells kept over a tenth more CPU cores busy"),
        (1.8, ", and none of 2 cells kept over a tenth more CPU cores busy"),
        (0.5, HEAVIER),
        (None, "; how many CPU cores it kept busy is not known, nor which cells are heavier"),
    ],
)
def test_heavier_cells_than_that_of_the_proof_are_told(cpu_cores: float | None, said: str) -> None:
    """By the CPU cores that cells kept busy, which are 1.9 here."""
    proof = ProvedWith(cell="light", ratio=0.999, low=0.99, high=1.01, cpu_cores=cpu_cores)
    _, warning, _ = warnings(ran_on=["GPU-0", "GPU-1"], beside="other/0", proved_with=proof)
    cells = [s.cell(each).id for each in (s.MXNET, s.TORCH)]

    proved = "that cells beside others are as fast as alone was proved with light (0.999 ×, 0.990–1.010)"
    assert warning == proved + said.format(*cells)


def test_a_proof_keeps_its_cores_without_others() -> None:
    """The cells here are too fast for the CPU clock, so that theirs are not known."""
    proof = ProvedWith(cell="light", ratio=0.999, low=0.99, high=1.01, cpu_cores=0.5)
    _, warning, _ = warnings(ran_on=["GPU-0", "GPU-1"], beside="other/0", proved_with=proof, samples_per_s=1e7)

    assert warning.endswith(", which kept 0.50 CPU cores busy; those of the cells here are not known")


def test_cells_alone_need_no_proof() -> None:
    proof = ProvedWith(cell="light", ratio=0.999, low=0.99, high=1.01)

    assert warnings(ran_on=["GPU-0", "GPU-0"], beside="", proved_with=proof) == []


def test_one_gpu_alone_tells_nothing() -> None:
    assert warnings(ran_on=["GPU-0", "GPU-0"], beside="") == []


def test_cells_that_compute_nothing_rate_no_gpu() -> None:
    plan = s.plan([s.cell(each) for each in (s.MXNET, s.TORCH)])
    builders = tuple(image.environment.builder for image in plan.images)

    assert warnings(ran_on=["GPU-0", "GPU-1"], beside="", idle_builders=builders) == []


def test_large_groups_are_ranked_across_gpus() -> None:
    """More cells than are compared pair by pair, 2 % apart, on GPUs each twice as fast as the one before."""
    cells = [s.cell(s.Framework("mxnet", f"1.{number}", python="3.11")) for number in range(MOST_IN_MATRIX + 1)]
    stored = [
        replace(each, outcome=replace(each.outcome, ran_on=f"GPU-{each.outcome.repeat}"))
        for number, cell in enumerate(cells)
        for each in s.ok(cell, [1.02**-number * 2.0**gpu for gpu in range(3)], spread=0.001)
    ]
    plan = s.plan(cells)
    (group,) = compose(s.record(plan), plan, stored).groups

    assert [place.cell_id for place in group.places] == [cell.id for cell in cells]
    assert [place.rank for place in group.places] == [Rank(place, place) for place in range(1, 2 + MOST_IN_MATRIX)]
    assert {place.to_best.verdict for place in group.places if place.to_best} == {Verdict.SLOWER}
