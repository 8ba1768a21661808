"""The effects of devices of one kind on what is measured on them, beside those of the cells."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Observed(NamedTuple):
    """One repeat of a cell on a device."""

    cell: str
    device: str
    rate: float
    """Such as samples/s; positive."""


def device_effects(observed: Sequence[Observed]) -> Mapping[str, float]:
    """Estimate how fast each device is, as a factor of the geometric mean of all.

    The logarithms of the rates are fitted by the sum of an effect of the cell and one of the device, by least squares
    (two-way analysis of variance, R. A. Fisher, 1925). Cells that saw one device alone tell nothing. The result is
    empty if no cell saw two devices, or the devices fall into groups that no cell connects.
    """
    import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only runs on several GPUs need it

    seen: dict[str, set[str]] = {}
    for each in observed:
        seen.setdefault(each.cell, set()).add(each.device)
    telling = [each for each in observed if len(seen[each.cell]) > 1]
    cells = {name: number for number, name in enumerate(dict.fromkeys(each.cell for each in telling))}
    devices = {name: number for number, name in enumerate(sorted({each.device for each in telling}))}
    if not devices:
        return {}
    design = np.zeros((len(telling) + 1, len(cells) + len(devices)))
    for row, each in enumerate(telling):
        design[row, cells[each.cell]] = design[row, len(cells) + devices[each.device]] = 1.0
    design[-1, len(cells) :] = 1.0  # the effects of the devices add up to nothing
    logs = np.array([*(math.log(each.rate) for each in telling), 0.0])
    fitted, _, rank, _ = np.linalg.lstsq(design, logs, rcond=None)
    if rank < design.shape[1]:
        return {}
    return {name: math.exp(fitted[len(cells) + number]) for name, number in devices.items()}
