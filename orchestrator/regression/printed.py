"""The figures that scripts print, as metrics of a regression test."""

from collections.abc import Iterable, Iterator

from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.user_files import PrintedMetric, Script

PREFIX = "printed."
"""The beginning of their names, which keeps a printed `loss` apart from the loss that we read."""
TOLERANCE = 0.05
"""Nobody knows how well a script times itself, so that this is more than our own throughput has."""


def printed_metric(name: str, unit: str, better: Better) -> Metric:
    """Return the metric of a figure, by its name with the prefix."""
    figure = name.removeprefix(PREFIX)
    return Metric(name, figure, unit, better, TOLERANCE, lambda repeat: repeat.printed.get(figure), gates=True)


def metrics_of(script: Script) -> Iterator[Metric]:
    """Yield a metric for every figure of a script, in the order of the matrix."""
    for figure in script.metrics:
        yield printed_metric(PREFIX + figure.name, figure.unit, _better(figure))


def named_metrics(scripts: Iterable[Script]) -> Iterator[tuple[str, Metric]]:
    """Yield every metric of every script, each with the name of the script."""
    for script in scripts:
        for metric in metrics_of(script):
            yield script.name, metric


def _better(figure: PrintedMetric) -> Better:
    return Better.HIGHER if figure.better is PrintedMetric.Better.HIGHER else Better.LOWER
