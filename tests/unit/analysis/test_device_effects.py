"""The effects of devices beside those of cells, and cells compared in spite of them."""

import math
import random

import numpy as np
import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.analysis.gpus.device_effects import Observed, device_effects
from orchestrator.analysis.gpus.in_turn import Timed, levelled, ratio_in_turn
from orchestrator.analysis.ratios import ratio

TRUE = {f"GPU-{number}": 1.05 ** (3.5 - number) for number in range(8)}


def observed(*, repeats: int, noise: float, seed: int) -> list[Observed]:
    """Cells of very different rates, each repeat on a GPU that is drawn."""
    drawn = random.Random(seed)
    return [
        Observed(f"cell-{cell}", gpu, 10.0**cell * TRUE[gpu] * drawn.lognormvariate(0, noise))
        for cell in range(5)
        for gpu in drawn.choices(sorted(TRUE), k=repeats)
    ]


def test_exact_rates_give_the_exact_effects() -> None:
    """Also where the repeats of a cell are spread unevenly over the GPUs."""
    (effects,) = device_effects(observed(repeats=20, noise=0, seed=1))

    assert effects == pytest.approx(TRUE)


def test_noisy_rates_give_nearly_the_effects() -> None:
    (effects,) = device_effects(observed(repeats=200, noise=0.02, seed=2))

    assert effects == pytest.approx(TRUE, rel=0.01)


def test_devices_that_no_cell_connects_are_fitted_apart() -> None:
    """Such as those of two kinds in one server. Each is a factor of the mean of its own."""
    apart = [
        Observed("a", "GPU-0", 1.0),
        Observed("b", "GPU-2", 9.0),
        Observed("a", "GPU-1", 4.0),
        Observed("b", "GPU-3", 9.0),
        Observed("c", "GPU-1", 7.0),
    ]

    assert device_effects(apart) == (
        pytest.approx({"GPU-0": 0.5, "GPU-1": 2.0}), pytest.approx({"GPU-2": 1.0, "GPU-3": 1.0}),
    )  # fmt: skip
    joined = device_effects([*apart, Observed("b", "GPU-1", 9.0)])
    assert [sorted(part) for part in joined] == [["GPU-0", "GPU-1", "GPU-2", "GPU-3"]]


def test_without_a_cell_on_two_devices_nothing_is_known() -> None:
    assert device_effects([Observed("a", "GPU-0", 1.0), Observed("b", "GPU-1", 1.0)]) == ()
    assert device_effects([]) == ()


def in_turn(rate: float, *devices: int, first: int = 0) -> list[Timed]:
    """The repeats of a cell, one on each of the devices, which run at 2, 4, 8 … times its rate."""
    return [Timed(repeat, f"GPU-{gpu}", rate * 2.0 ** (gpu + 1)) for repeat, gpu in enumerate(devices, first)]


def test_repeats_on_shared_gpus_are_paired() -> None:
    """GPUs twice as fast as each other hide no difference of 3 %, nor do repeats that only one side has."""
    over = ratio_in_turn(in_turn(103, 0, 1, 2), in_turn(100, 1, 2, 3, first=1))

    assert (over.value, over.low, over.high) == pytest.approx((1.03, 1.03, 1.03))
    assert over.verdict is Verdict.FASTER


@pytest.mark.parametrize("shared", [[0, 0, 0], [3, 4, 5], [0, 4, 5]])
def test_repeats_of_fixed_gpus_are_not_paired(shared: list[int]) -> None:
    """One GPU for all repeats, or fewer than two repeats of a number on the same GPUs: each side stands for itself."""
    one, other = in_turn(103, 0, 0, 0), in_turn(100, *shared)

    assert ratio_in_turn(one, other) == ratio([each.rate for each in one], [each.rate for each in other])


def test_cells_are_levelled_to_gpus_of_mean_speed() -> None:
    """A cell that missed the fastest GPU is no slower for it; a GPU that all ran on changes no rate."""
    found = levelled({"a": in_turn(100, 0, 1, 2), "b": in_turn(103, 0, 1), "c": in_turn(1, 0, 1, 2)})

    assert [found[name].value for name in "abc"] == pytest.approx([400, 412, 4])
    assert levelled({"a": in_turn(100, 0, 0), "b": in_turn(103, 0)}) == {}
    assert levelled({"a": in_turn(100, 0, 1), "b": in_turn(103, 2, 3)}) == {}, "which no cell connects"


def test_effects_are_those_of_all_equations() -> None:
    """The equations with an unknown for each cell have the same solution, with repeats spread unevenly."""
    rates = observed(repeats=9, noise=0.05, seed=3)
    design = np.zeros((len(rates) + 1, 5 + 8))
    for row, each in enumerate(rates):
        design[row, int(each.cell[-1])] = design[row, 5 + int(each.device[-1])] = 1.0
    design[-1, 5:] = 1.0
    logs = [*(math.log(each.rate) for each in rates), 0.0]
    solution = np.linalg.lstsq(design, np.array(logs), rcond=None)[0]

    assert device_effects(rates) == (
        pytest.approx({f"GPU-{number}": math.exp(effect) for number, effect in enumerate(solution[5:])}),
    )


def test_effects_need_no_equation_per_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cells there are, the equations are as many as the devices, so that the cost is linear."""
    sizes = []
    solve = np.linalg.lstsq
    monkeypatch.setattr(
        np.linalg, "lstsq", lambda *each, **further: sizes.append(each[0].shape) or solve(*each, **further)
    )
    for cells in (10, 1_000):
        device_effects([Observed(f"{cell}", gpu, 1.0 + cell) for cell in range(cells) for gpu in sorted(TRUE)])

    assert sizes == [(8, 8), (8, 8)]
