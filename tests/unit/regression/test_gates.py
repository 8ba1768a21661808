"""The values of `--metric`, and the metrics that then decide."""

import pytest

from orchestrator.errors import InputError
from orchestrator.regression.rules import BY_NAME, DEFAULT_GATES, Gate, parse_gates, tolerance

MODELS = ("lenet", "mlp")


@pytest.mark.parametrize(
    ("texts", "deciding"),
    [
        ((), {"throughput": (0.02, 0.02), "loss": (1e-4, 1e-4)}),
        (("throughput",), {"throughput": (0.02, 0.02)}),
        (("throughput=3%", "loss"), {"throughput": (0.03, 0.03), "loss": (1e-4, 1e-4)}),
        (("throughput@mlp=5%",), {"throughput": (0.02, 0.05), "loss": (1e-4, 1e-4)}),
        (("latency_p50@mlp=5%",), {"throughput": (0.02, 0.02), "loss": (1e-4, 1e-4), "latency_p50": (0.02, 0.05)}),
        (("throughput=3%", "throughput@mlp=0.05"), {"throughput": (0.03, 0.05)}),
        (("loss", "throughput@mlp=5%"), {"throughput": (0.02, 0.05), "loss": (1e-4, 1e-4)}),
    ],
)
def test_a_named_metric_decides(texts: tuple[str, ...], deciding: dict[str, tuple[float, float]]) -> None:
    """A metric that is named decides, and a tolerance for one model changes nothing else."""
    gates = parse_gates(texts, "--metric", MODELS)

    found = {name: [tolerance(gates, metric, model) for model in MODELS] for name, metric in BY_NAME.items()}
    assert {name: tuple(share for _, share in held) for name, held in found.items() if held[0][0]} == deciding
    assert all(held[0][0] is held[1][0] for held in found.values())


def test_the_one_that_is_given_comes_last() -> None:
    """A search takes one metric, and not those that decide beside it."""
    assert parse_gates(["throughput@mlp=5%"], "--metric", MODELS) == (*DEFAULT_GATES, Gate("throughput", 0.05, "mlp"))


def test_an_unknown_metric_lists_all_metrics_once() -> None:
    """A name that is no metric is refused with those that there are, which are listed once."""
    with pytest.raises(InputError) as told:
        parse_gates(["zzz"], "--metric", MODELS)

    assert str(told.value).count("there is") == str(told.value).count("throughput") == 1
