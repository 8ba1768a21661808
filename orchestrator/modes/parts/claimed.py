"""Metrics that a published claim is about, read from a text such as `accuracy after epoch 5`.

Epochs need no axis: a claim about the first ones is read from a longer run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from orchestrator.errors import did_you_mean
from orchestrator.modes.parts.figures import RepeatFigures, TimedEpochs
from orchestrator.modes.parts.metrics import Better, Metric

_FORM = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?P<late> without epoch 1)?(?: after epoch (?P<last>[1-9][0-9]{0,6}))?")
_OF_EPOCHS = ("total_time", "epoch_time", "accuracy")
_LISTED_FIRST = ("throughput", *_OF_EPOCHS)
_TIMES = ("total_time", "epoch_time")


def claimed_metric(text: str, metrics: Sequence[Metric]) -> Metric:
    """Return the metric that a text names, among `metrics` and what epochs hold besides.

    `total_time`, `epoch_time` and `accuracy` may be those `after epoch N`, and both times `without epoch 1`.
    Raises `ValueError` with a sentence for people.
    """
    match = _FORM.fullmatch(text)
    known = _by_name(metrics)
    if match is None or match["name"] not in known:
        raise ValueError(
            f"{text!r} is no metric such as 'throughput' or 'total_time after epoch 10'{_hint(text, known)}"
        )
    metric = known[match["name"]]
    last = int(match["last"]) if match["last"] else None
    if match["late"] and metric.name not in _TIMES:
        raise ValueError(f"{text!r}: 'without epoch 1' is of {' and '.join(_TIMES)} alone")
    if last is not None and metric.name not in _OF_EPOCHS:
        raise ValueError(f"{text!r}: 'after epoch {last}' is of {', '.join(_OF_EPOCHS)} alone")
    if match["late"] and last == 1:
        raise ValueError(f"{text!r}: nothing is left of epoch 1 without epoch 1")
    if metric.name not in _OF_EPOCHS or (not match["late"] and last is None and metric.name != "epoch_time"):
        return metric
    take = _take(metric.name, last, late=bool(match["late"]))
    return replace(metric, title=_title(metric, match["late"], last), take=take)


def least_epochs(text: str) -> int:
    """Return the fewest epochs of a run that a metric can be read from, or 0 if it needs none."""
    match = _FORM.fullmatch(text)
    if match is None or match["name"] not in _OF_EPOCHS:
        return 0
    return max(int(match["last"] or 1), 2 if match["late"] else 1)


def _by_name(metrics: Iterable[Metric]) -> dict[str, Metric]:
    known = {metric.name: metric for metric in metrics if metric.take and metric.better is not Better.EQUAL}
    if "total_time" in known:
        total = known["total_time"]
        known["epoch_time"] = replace(total, name="epoch_time", title="seconds per epoch")
    first = {name: known[name] for name in _LISTED_FIRST if name in known}
    return {**first, **known}


def _hint(text: str, known: Collection[str]) -> str:
    word = text.partition(" ")[0]
    if word in known:
        return "; behind the name may stand 'without epoch 1' and 'after epoch N', in this order"
    return did_you_mean(word, known)


def _title(metric: Metric, late: str | None, last: int | None) -> str:
    return f"{metric.title}{late or ''}{f' after epoch {last}' if last else ''}"


def _take(name: str, last: int | None, *, late: bool) -> Callable[[RepeatFigures], float | None]:
    def take(repeat: RepeatFigures) -> float | None:
        epochs = repeat.epochs
        if epochs is None or len(epochs.epoch_s) < max(last or 1, 2 if late else 1):
            return None
        if name == "accuracy":
            return _accuracy(epochs, last or len(epochs.epoch_s))
        return _time(epochs, last or len(epochs.epoch_s), late=late, is_mean=name == "epoch_time")

    return take


def _time(epochs: TimedEpochs, last: int, *, late: bool, is_mean: bool) -> float:
    """Return seconds of the epochs up to one of them, all together or each, with the first step if with the first."""
    total = sum(epochs.epoch_s[1:last]) if late else epochs.total_s - sum(epochs.epoch_s[last:])
    return total / (last - late) if is_mean else total


def _accuracy(epochs: TimedEpochs, last: int) -> float | None:
    return next((scores.test_accuracy for scores in epochs.curve if scores.epoch == last), None)
