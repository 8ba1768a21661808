"""Filters of the templates of a run's page."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator import wording
from orchestrator.reporting import figures
from orchestrator.reporting.charts.cells import charts
from orchestrator.reporting.charts.curves import curves
from orchestrator.reporting.findings.model import CellReport
from orchestrator.reporting.findings.parity import lines

_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]+")


def _using(cells: Sequence[CellReport], what: str) -> bool:
    """Return True if any repeat reports its resources, `used` of its process or of its `gpus`."""
    return any(getattr(repeat.measurement, what, None) is not None for cell in cells for repeat in cell.repeats)


def _facts(facts: Sequence[tuple[str, str]], name: str) -> str:
    """The value of one fact, `–` where it is unknown."""
    return dict(facts).get(name, "–")


def _numbered(cells: Sequence[CellReport], part: int) -> dict[str, str]:
    """Short names that tie the rows and lanes of a cell together, unique on a page."""
    return {cell.cell.id: f"{part}.{number}" for number, cell in enumerate(cells)}


def _short(value: Any) -> str:
    """A number to sort by; empty where it is unknown."""
    return "" if value is None else f"{value:.6g}"


_WORDS = ("clean_line", "rate", "factor", "seconds", "memory", "share", "count", "percent", "plural")
_FIGURES = (
    *("rate_interval", "factor_interval", "verdict", "gpu_figures", "seconds_bounds", "epoch_figures"),
    *("next_interval", "statuses", "repeats", "options"),
)
FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(wording, name) for name in _WORDS},
    **{name: getattr(figures, name) for name in _FIGURES},
    "charts": charts,
    "curves": curves,
    "facts": _facts,
    "harness_shares": lambda part: {place.cell_id: place.harness_share for place in part.places},
    "learned": lambda cells: [cell for cell in cells if cell.epochs and cell.epochs.curve],
    "numbered": _numbered,
    "of_bar": lambda pair: max((each.value / each.bar for each in pair.differences if each.bar), default=None),
    "parity_lines": lines,
    "of": lambda name, values: values[name],
    "percent_whole": lambda share: f"{100 * share:.0f}\N{NO-BREAK SPACE}%",
    "said": lambda sentence: sentence.removeprefix("Inconclusive: "),  # the mark before it says so
    "short": _short,
    "short_digest": lambda name: _DIGEST.sub(r"\1…", name),
    "using": _using,
}
