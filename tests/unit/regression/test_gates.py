"""The values of `--metric`, and the metrics that then decide."""

import pytest

from orchestrator.errors import InputError
from orchestrator.modes.parts.metrics import Better
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


PRINTED = tuple(
    Gate(name, 0.05, script, better, unit)
    for name, script, better, unit in (
        ("printed.step", "bert", Better.LOWER, "ms"),
        ("printed.step", "gpt", Better.LOWER, "ms"),
        ("printed.loss", "gpt", Better.LOWER, ""),
    )
)


def test_all_that_scripts_print_decides_unless_named() -> None:
    """The figures of scripts and the metrics of models are named apart from each other."""
    assert parse_gates([], "--metric", MODELS, PRINTED) == (*DEFAULT_GATES, *PRINTED)
    assert parse_gates(["loss"], "--metric", MODELS, PRINTED) == (Gate("loss", 1e-4), *PRINTED)
    assert parse_gates(["printed.loss"], "--metric", MODELS, PRINTED) == (*DEFAULT_GATES, PRINTED[2])
    step = parse_gates(["printed.step=2%"], "--metric", MODELS, PRINTED)[2:]
    assert [(gate.model, gate.tolerance, gate.unit) for gate in step] == [("bert", 0.02, "ms"), ("gpt", 0.02, "ms")]
    (one,) = parse_gates(["printed.step@gpt=2%"], "--metric", MODELS, PRINTED)[2:]
    assert (one.model, one.tolerance) == ("gpt", 0.02)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("printed.stop", "no script of the matrix prints it; did you mean 'printed.step'?"),
        ("printed.step@lenet", "no script 'lenet' prints it; there is bert, gpt"),
        ("printed.step=much", "'much' is no tolerance; write a share of the baseline, such as 2% or 0.02"),
    ],
)
def test_mistakes_in_a_printed_figure(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_gates([text], "--metric", MODELS, PRINTED)

    assert caught.value.messages == (f"--metric {text!r}: {said}",)
