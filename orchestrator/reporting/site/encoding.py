"""Compact columns of data, and the scripts that carry them to a page."""

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from orchestrator.analysis.estimates import Estimate

Document = dict[str, Any]
"""Plain JSON values."""
DIGITS = 5
"""Significant digits of a figure: a hundred times finer than repeats of a steady cell scatter."""
PARTS = 5
"""Digits of the largest of a column of whole numbers."""
HALF_WIDTH = 10_000
"""Parts of a natural logarithm in which half the width of an interval is written."""
WIDEST = 100 * HALF_WIDTH
"""The widest interval that is written, which is beyond every axis."""
_BEFORE, _AFTER = "bench.put(", ")\n"


def significant(value: float | None, digits: int = DIGITS) -> float | int | None:
    """Round a number to significant digits, as a whole number if it is one. None stays None."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def numbers(values: Iterable[float | None], digits: int = DIGITS) -> list[float | int | None]:
    """Round a column of numbers."""
    return [significant(value, digits) for value in values]


def scaled(values: Sequence[float | None]) -> Document | None:
    """Encode a column as whole numbers of a unit, the largest with five digits or so; None for nothing but 0.

    Columns of blocks and steps are most of a site, and whole numbers are a third of the time and of the bytes.
    """
    known = [value for value in values if value is not None]
    peak = max((*known, *(-value for value in known if value < 0)), default=0.0)
    if not 0 < peak < math.inf:
        return None
    digits = PARTS - math.ceil(math.log10(peak))
    unit = 10.0**digits
    return {"d": digits, "v": [None if value is None else round(value * unit) for value in values]}


def half_width(figure: Estimate) -> int | None:
    """Return half the width of an interval on a logarithmic scale, in parts of `HALF_WIDTH`, or None without one.

    The interval of a mean is symmetric there: its ends are the value times and over the exponential of this number.
    """
    if figure.high is None or figure.low is None or min(figure.low, figure.value) <= 0:
        return None
    widest = max(figure.high / figure.value, figure.value / figure.low)
    return min(WIDEST, round(math.log(widest) * HALF_WIDTH))


def dictionary(values: Sequence[Hashable]) -> Document:
    """Encode a column as its distinct values, in order of appearance, and the place of each row's value there."""
    places: dict[Hashable, int] = {}
    at = [places.setdefault(value, len(places)) for value in values]
    return {"of": list(places), "at": at}


def decoded(column: Document) -> list[Any]:
    """Return the values of a column that `dictionary` has encoded."""
    of = column["of"]
    return [of[place] for place in column["at"]]


def stride_of(count: int, most: int) -> int:
    """Return the n for which every n-th of so many values, the first included, are at most so many."""
    return max(1, math.ceil(count / most))


def compact(value: Any) -> str:
    """Return a value as JSON without spaces. Half characters of names that are not UTF-8 stay escaped."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def script(name: str, text: str) -> str:
    """Return the script that hands the JSON text of a document to the page under a name.

    Pages that are opened from disk may load scripts, and nothing else.
    """
    return f"{_BEFORE}{json.dumps(name)},{text}{_AFTER}"


def digest(text: str) -> str:
    """Return the name of a content."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parsed(text: str) -> Document:
    """Return the document of a script. Raises `ValueError` if the text is none that `script` has written."""
    try:
        if not (text.startswith(_BEFORE) and text.endswith(_AFTER)):
            raise ValueError("it has another begin or end")
        name, end = json.JSONDecoder().raw_decode(text, len(_BEFORE))
        document = json.loads(text[end + 1 : -len(_AFTER)])
    except ValueError as error:
        raise ValueError(f"is no data of a site: {error}") from error
    if not isinstance(name, str) or not isinstance(document, dict):
        raise ValueError("is no data of a site: it has no document")
    return document
