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


def device_effects(observed: Sequence[Observed]) -> tuple[Mapping[str, float], ...]:
    """Estimate how fast each device is, as a factor of the geometric mean of all that cells connect it with.

    The logarithms of the rates are fitted by the sum of an effect of the cell and one of the device, by least squares
    (two-way analysis of variance, R. A. Fisher, 1925). The effects of the cells are taken out first (R. Frisch and
    F. V. Waugh, 1933), so that the cost grows with the number of repeats, and the equations with that of devices alone.
    Cells that saw one device alone tell nothing. Devices that no cell connects, such as those of two kinds, are fitted
    apart. The result is empty if no cell saw two devices.
    """
    by_cell: dict[str, list[Observed]] = {}
    for each in observed:
        by_cell.setdefault(each.cell, []).append(each)
    telling = [repeats for repeats in by_cell.values() if len({each.device for each in repeats}) > 1]
    return tuple(_fitted(part) for part in _connected(telling))


def _connected(cells: Sequence[Sequence[Observed]]) -> Sequence[Sequence[Sequence[Observed]]]:
    """Return the cells in parts that have no device in common, in the order of their devices' names."""
    nearer: dict[str, str] = {}
    """Another device of the same part, by name; a device without one stands for its part."""

    def part(device: str) -> str:
        while device in nearer:
            device = nearer[device]
        return device

    for repeats in cells:
        first, *others = sorted({part(each.device) for each in repeats})
        nearer.update(dict.fromkeys(others, first))
    parts: dict[str, list[Sequence[Observed]]] = {}
    for repeats in cells:
        parts.setdefault(part(repeats[0].device), []).append(repeats)
    return [parts[name] for name in sorted(parts)]


def _fitted(cells: Sequence[Sequence[Observed]]) -> Mapping[str, float]:
    """Fit the effects of devices that these cells connect."""
    import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only runs on several GPUs need it

    devices = {name: place for place, name in enumerate(sorted({each.device for cell in cells for each in cell}))}
    normal, right = np.zeros((len(devices), len(devices))), np.zeros(len(devices))
    for repeats in cells:
        places = [devices[each.device] for each in repeats]
        logs = np.array([math.log(each.rate) for each in repeats])
        times = np.bincount(places, minlength=len(devices))
        normal += np.diag(times) - np.outer(times, times) / len(repeats)
        right += np.bincount(places, weights=logs - logs.mean(), minlength=len(devices))
    # Of all solutions, which differ by a constant, this is the shortest one, whose effects add up to nothing.
    fitted = np.linalg.lstsq(normal, right, rcond=_ROUNDING)[0]
    return {name: math.exp(fitted[place]) for name, place in devices.items()}
