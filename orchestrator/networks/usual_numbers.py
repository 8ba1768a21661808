"""Single numbers that a computation gives, and that training yields by chance alone.

They are whole numbers, their square and fourth roots, and the reciprocals of these, such as 1/√(head size) or 1/255.
Decimal numbers of up to three digits are among them, such as an epsilon, and constants of formulas, and what masks are
made of. A number of 16 bits is near to many of these, so that fewer of them count there.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MASKS = (0.0, -100.0, -1e4, -1e5, -1e9, -1e10, -1e30)
"""Numbers that masks are made of, besides the least ones of a type: 0, and what a softmax takes for nothing."""
DIGITS = {"FLOAT": 23, "DOUBLE": 23, "FLOAT16": 10, "BFLOAT16": 7}
"""Binary digits behind the first one, by ONNX's real types. What is computed in double is stored from float32 often."""
_LARGEST = (65504.0, (2 - 2**-23) * 2.0**127, (2 - 2**-7) * 2.0**127, (2 - 2**-52) * 2.0**1023)
_OF_FORMULAS = (math.pi, 2 * math.pi, math.e, math.log(2), math.log(10), math.sqrt(2 / math.pi), 0.044715, 1.702)
"""Constants of the circle, of logarithms, and of GELU and its quick form."""
_WIDE = 23
_HALF_STEP_OF_SMALL = 2.0**-25
"""Of numbers in float16 below its normal ones, such as 1e-5."""
_ROUNDING = 3
"""Steps of a wide type between a number and what was computed in another order."""


def is_usual(number: float, digits: int) -> bool:
    """Return true for a real number, of a type with so many binary digits, that a computation gives."""
    import numpy as np  # noqa: PLC0415 - half of the time that a command takes to start

    value, is_wide = abs(number), digits >= _WIDE
    if not math.isfinite(value) or value == 0 or (value.is_integer() and value < 2 ** (digits + 1)):
        return True
    apart = value * (_ROUNDING * 2.0**-digits if is_wide else 2.0 ** -(digits + 1))
    if digits == DIGITS["FLOAT16"]:
        apart = max(apart, _HALF_STEP_OF_SMALL)
    known = _known(is_wide=is_wide)
    first = known[np.searchsorted(known, value - apart) :][:1]
    return bool(first.size and first[0] <= value + apart)


@lru_cache(maxsize=2)
def _known(*, is_wide: bool) -> npt.NDArray[np.float64]:
    """Return usual numbers above 0 in order."""
    import numpy as np  # noqa: PLC0415

    whole = np.union1d(np.arange(1, 4097 if is_wide else 17), 2.0 ** np.arange(17))
    roots = np.concatenate([whole ** (1 / power) for power in ((1, 2, 4) if is_wide else (1, 2))])
    decimals = [np.arange(1, 1000 if is_wide else 10) * 10.0**exponent for exponent in range(-15, 1)]
    masks = [-each for each in MASKS if each]
    return np.unique(np.concatenate([roots, 1 / roots, *decimals, _OF_FORMULAS, _LARGEST, masks]))
