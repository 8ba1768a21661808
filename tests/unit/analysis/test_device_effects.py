"""The effects of devices beside those of cells."""

import random

import pytest

from orchestrator.analysis.device_effects import Observed, device_effects

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
    assert device_effects(observed(repeats=20, noise=0, seed=1)) == pytest.approx(TRUE)


def test_noisy_rates_give_nearly_the_effects() -> None:
    effects = device_effects(observed(repeats=200, noise=0.02, seed=2))

    assert effects == pytest.approx(TRUE, rel=0.01)


def test_devices_that_no_cell_connects_are_unknown() -> None:
    apart = [
        Observed("a", "GPU-0", 1.0),
        Observed("a", "GPU-1", 2.0),
        Observed("b", "GPU-2", 1.0),
        Observed("b", "GPU-3", 1.0),
    ]

    assert device_effects(apart) == {}
    assert device_effects([Observed("a", "GPU-0", 1.0), Observed("b", "GPU-1", 1.0)]) == {}
    assert device_effects([]) == {}
