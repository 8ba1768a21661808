"""Entries for `tool: customSmallerIsBetter` of github-action-benchmark: metrics that are better low."""

from collections.abc import Iterator, Sequence

from orchestrator.modes.parts.metrics import Better
from orchestrator.reporting.formats.interchange.bigger_is_better import entries
from orchestrator.reporting.measures import MeasuredRun


def texts(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Render a list with an entry for every metric that is better low."""
    yield entries(runs, Better.LOWER)
