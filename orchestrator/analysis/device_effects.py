"""The effects of devices of one kind on what is measured on them, beside those of the cells."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_ROUNDING = 1e-10
"""Share of the largest singular value below which one is 0 but for rounding."""


class Observed(NamedTuple):
    """One repeat of a cell on a device."""

    cell: str
    device: str
    rate: float
    """Such as samples/s; positive."""


def device_effects(observed: Sequence[Observed]) -> Mapping[str, float]:
    """Estimate how fast each device is, as a factor of the geometric mean of all.

    The logarithms of the rates are fitted by the sum of an effect of the cell and one of the device, by least squares
    (two-way analysis of variance, R. A. Fisher, 1925). The effects of the cells are taken out first (R. Frisch and
    F. V. Waugh, 1933), so that the cost grows with the number of repeats, and the equations with that of devices alone.
    Cells that saw one device alone tell nothing. The result is empty if no cell saw two devices, or the devices fall
    into groups that no cell connects.
    """
    import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only runs on several GPUs need it

    by_cell: dict[str, list[Observed]] = {}
    for each in observed:
        by_cell.setdefault(each.cell, []).append(each)
    telling = [repeats for repeats in by_cell.values() if len({each.device for each in repeats}) > 1]
    devices = {name: place for place, name in enumerate(sorted({each.device for cell in telling for each in cell}))}
    if not devices:
        return {}
    normal, right = np.zeros((len(devices), len(devices))), np.zeros(len(devices))
    for repeats in telling:
        places = [devices[each.device] for each in repeats]
        logs = np.array([math.log(each.rate) for each in repeats])
        times = np.bincount(places, minlength=len(devices))
        normal += np.diag(times) - np.outer(times, times) / len(repeats)
        right += np.bincount(places, weights=logs - logs.mean(), minlength=len(devices))
    # Of all solutions, which differ by a constant, this is the shortest one, whose effects add up to nothing.
    fitted, _, rank, _ = np.linalg.lstsq(normal, right, rcond=_ROUNDING)
    if rank < len(devices) - 1:
        return {}
    return {name: math.exp(fitted[place]) for name, place in devices.items()}
