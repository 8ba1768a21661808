"""Numbers by chance in place of a learned tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_SPARSE = 0.1
"""Share of zeros from which a tensor is taken for a sparse one, and stays so."""
_QUANTILES = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
"""Quantiles of a tensor between which its numbers by chance are uniform."""
_SPREAD = 0.25
"""Standard deviation of the logarithm of the factor by which a single number is changed."""


def replacement(values: npt.NDArray[np.generic], seed: int, ordinal: int = 0) -> npt.NDArray[np.generic]:
    """Return numbers by chance in place of a learned tensor, of its shape, type and scale.

    They are distributed as its values are, between a few of their quantiles, so that what is positive everywhere, as a
    variance, stays so, and none is larger than a network bears. A sparse tensor stays one, with its zeros elsewhere.
    Tensors of one `ordinal` get equal numbers, so that what shares its weights goes on to share them.
    """
    import numpy as np  # noqa: PLC0415

    random = np.random.default_rng([seed, ordinal])
    wide = values.astype(np.float64)
    is_whole = np.full((), 0.5).astype(values.dtype) == 0  # types of 4 bits are not among NumPy's integers
    finite = wide[np.isfinite(wide)]
    zeros = float((finite == 0).mean()) if finite.size else 0.0
    known = finite[finite != 0] if zeros >= _SPARSE else finite
    if not known.size:
        return values
    if known.min() == known.max():
        made = np.full(values.shape, _another(float(known[0]), random, values.dtype if is_whole else None))
    else:
        made = np.interp(random.random(values.shape), _QUANTILES, np.quantile(known, _QUANTILES))
    if zeros >= _SPARSE:
        made[random.random(values.shape) < zeros] = 0
    replaced: npt.NDArray[np.generic] = (np.rint(made) if is_whole else made).astype(values.dtype)
    return replaced


def _another(number: float, random: np.random.Generator, whole: np.dtype[np.generic] | None) -> float:
    """Return another number of the scale of one; a whole one is a few steps away, within its type."""
    import numpy as np  # noqa: PLC0415

    if whole is None:
        return number * float(np.exp(_SPREAD * random.standard_normal()))
    step = int(random.integers(1, 9))
    more = np.full((), number + step)
    return number + step if more.astype(whole).astype(np.float64) == more else number - step
