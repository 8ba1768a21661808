"""Metrics that a published claim names, read from the epochs of a longer run."""

from dataclasses import dataclass

import pytest

from orchestrator.modes import METRICS
from orchestrator.modes.parts.claimed import claimed_metric, least_epochs


@dataclass(frozen=True)
class _Scores:
    epoch: int
    test_accuracy: float


@dataclass(frozen=True)
class _Epochs:
    """Four epochs of 10, 4, 3 and 2 s, after a first step of 1 s."""

    epoch_s: tuple[float, ...] = (10.0, 4.0, 3.0, 2.0)
    total_s: float = 20.0
    curve: tuple[_Scores, ...] = (_Scores(1, 0.5), _Scores(2, 0.7), _Scores(3, 0.8), _Scores(4, 0.9))


@dataclass(frozen=True)
class _Repeat:
    epochs: _Epochs | None = _Epochs()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("total_time", 20.0),
        ("total_time after epoch 1", 11.0),
        ("total_time after epoch 3", 18.0),
        ("total_time without epoch 1", 9.0),
        ("total_time without epoch 1 after epoch 3", 7.0),
        ("epoch_time", 5.0),
        ("epoch_time after epoch 2", 7.5),
        ("epoch_time without epoch 1", 3.0),
        ("epoch_time without epoch 1 after epoch 3", 3.5),
        ("accuracy", 0.9),
        ("accuracy after epoch 2", 0.7),
    ],
)
def test_a_claim_reads_the_epochs_that_it_names(text: str, value: float) -> None:
    metric = claimed_metric(text, METRICS)

    assert metric.take is not None
    assert metric.take(_Repeat()) == pytest.approx(value)  # type: ignore[arg-type]


def test_a_single_evaluation_is_of_its_epoch_alone() -> None:
    repeat = _Repeat(_Epochs(curve=(_Scores(4, 0.9),)))
    taken = {
        text: metric.take(repeat)  # type: ignore[arg-type]
        for text in ("accuracy after epoch 1", "accuracy after epoch 4")
        if (metric := claimed_metric(text, METRICS)).take
    }

    assert taken == {"accuracy after epoch 1": None, "accuracy after epoch 4": 0.9}


@pytest.mark.parametrize("text", ["total_time after epoch 5", "accuracy after epoch 5", "epoch_time after epoch 5"])
def test_a_shorter_run_has_no_value(text: str) -> None:
    metric = claimed_metric(text, METRICS)

    assert metric.take is not None
    assert metric.take(_Repeat()) is None  # type: ignore[arg-type]
    assert least_epochs(text) == 5


def test_a_run_of_steps_has_no_epochs() -> None:
    metric = claimed_metric("total_time without epoch 1", METRICS)

    assert metric.take is not None
    assert metric.take(_Repeat(None)) is None  # type: ignore[arg-type]
    assert [least_epochs(text) for text in ("total_time without epoch 1", "accuracy", "throughput")] == [2, 1, 0]


def test_titles_say_which_epochs_are_meant() -> None:
    titles = [
        claimed_metric(text, METRICS).title for text in ("throughput", "total_time without epoch 1 after epoch 3")
    ]

    assert titles == ["throughput", "total time without epoch 1 after epoch 3"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("thruput", "; did you mean 'throughput'?"),
        ("accuracy after epoch 0", "; behind the name may stand 'without epoch 1' and 'after epoch N', in this order"),
        ("throughput after epoch 3", "'after epoch 3' is of total_time, epoch_time, accuracy alone"),
        ("accuracy without epoch 1", "'without epoch 1' is of total_time and epoch_time alone"),
        ("total_time without epoch 1 after epoch 1", "nothing is left of epoch 1 without epoch 1"),
        (
            "loss",
            "total_time, epoch_time, accuracy, latency_p50, latency_p90, latency_p99, cold_start, …",
        ),
    ],
)
def test_a_wrong_metric_is_refused_with_a_remedy(text: str, end: str) -> None:
    with pytest.raises(ValueError, match=text.split(" ", maxsplit=1)[0]) as caught:
        claimed_metric(text, METRICS)

    assert str(caught.value).endswith(end)
