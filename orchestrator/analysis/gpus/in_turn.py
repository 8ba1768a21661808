"""Cells that were given their GPUs in turn, compared so that no difference between GPUs is one between cells."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orchestrator.analysis.estimates import Estimate, estimate
from orchestrator.analysis.gpus.device_effects import Observed, device_effects
from orchestrator.analysis.ratios import AT_ONCE, Ratio, RatioRule, ratio_of
from orchestrator.analysis.scatter.contrasts import Contrast, contrast


class Timed(NamedTuple):
    """One repeat of a cell."""

    repeat: int
    devices: str
    """Its GPUs, in one text; empty without any."""
    rate: float
    """Such as samples/s; positive."""


def ratio_in_turn(candidate: Sequence[Timed], baseline: Sequence[Timed], rule: RatioRule = AT_ONCE) -> Ratio:
    """Compare the rates of two cells as `contrast_in_turn` does. Raises `ValueError` if a side has no repeat."""
    return ratio_of(contrast_in_turn(candidate, baseline), rule)


def contrast_in_turn(candidate: Sequence[Timed], baseline: Sequence[Timed]) -> Contrast:
    """Compare the rates of two cells: repeat by repeat if both went over several GPUs together.

    Then two repeats or more of one number ran on the same GPUs on both sides, and all repeats did not run on the same.
    Repeats without a counterpart are left out. Otherwise both sides stand for themselves.
    """
    others = {each.repeat: each for each in baseline}
    pairs = [
        (each.rate, other.rate)
        for each in candidate
        if (other := others.get(each.repeat)) is not None and each.devices == other.devices
    ]
    if len(pairs) < 2 or not _went_over_several([candidate, baseline]):
        return contrast([each.rate for each in candidate], [each.rate for each in baseline])
    return contrast([one for one, _ in pairs], [other for _, other in pairs], paired=True)


def levelled(cells: Mapping[str, Sequence[Timed]]) -> Mapping[str, Estimate]:
    """Estimate the rate of each cell on GPUs of mean speed. The result is empty where `levelled_rates` has none."""
    return {name: estimate(rates) for name, rates in levelled_rates(cells).items()}


def levelled_rates(cells: Mapping[str, Sequence[Timed]]) -> Mapping[str, Sequence[float]]:
    """Return the rates of the repeats of each cell as on GPUs of mean speed, by the effects of the GPUs on all of them.

    The result is empty if all ran on the same GPUs, or if no cell connects all GPUs.
    """
    if not _went_over_several(list(cells.values())):
        return {}
    parts = device_effects(
        [Observed(name, each.devices, each.rate) for name, repeats in cells.items() for each in repeats]
    )
    if len(parts) != 1:
        return {}
    (effects,) = parts
    return {name: [each.rate / effects.get(each.devices, 1.0) for each in repeats] for name, repeats in cells.items()}


def _went_over_several(cells: Sequence[Sequence[Timed]]) -> bool:
    """Return true if the repeats ran on more than one choice of GPUs."""
    return len({each.devices for repeats in cells for each in repeats}) > 1
