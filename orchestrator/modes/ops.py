"""Single operators, whose calls are timed one by one, each with its synchronisation."""

from collections.abc import Mapping
from typing import Final

from orchestrator.modes.parts.figures import RepeatFigures
from orchestrator.modes.parts.metrics import TIMED, Better, Metric
from orchestrator.modes.parts.rules import ModeRules, ParityRule
from orchestrator.modes.parts.subjects import Axis, Subjects

VECTORS: Final = (500, 5_000, 20_000, 50_000, 95_000)
"""Values in a vector."""
MATRICES: Final = (50, 150, 250, 350, 450, 550)
"""Rows, and columns, of a square matrix."""
OF_MATRICES: Final = frozenset({"flatten", "gemm", "broadcast_add", "broadcast_multiply", "broadcast_maximum"})
SEEDS, TRIES = 20, 5
_MOST_SEEDS, _MOST_TRIES = 1_000_000, 1000
_LARGEST_VECTOR, _LARGEST_MATRIX = 10**8, 10**4
_COPIED, _ELEMENTS, _PRODUCT, _SUM = 1e-9, 1e-6, 1e-5, 1e-4
BARS: Final[Mapping[str, float]] = {
    "tensor_from_numpy": _COPIED,
    "tensor_from_list": _COPIED,
    "sigmoid": _ELEMENTS,
    "relu": _COPIED,
    "tanh": _ELEMENTS,
    "softplus": _ELEMENTS,
    "softsign": _ELEMENTS,
    "dot": _ELEMENTS,
    "gemm": _PRODUCT,
    "flatten": _COPIED,
    "l2_normalize": _SUM,
    "broadcast_add": _ELEMENTS,
    "broadcast_multiply": _ELEMENTS,
    "broadcast_maximum": _COPIED,
}
"""Largest distance of an output from the reference in float64, and from another one, as a share of its scale.

Nothing is rounded where values are copied. A function of one element is off by a few units of float32. Products of
matrices sum 550 terms, and with TF32 they are off by 5e-4. A sum of 95,000 squares is off by the order of its terms.
"""


def _sizes(operator: str) -> tuple[int, ...]:
    return MATRICES if operator in OF_MATRICES else VECTORS


def _largest(operator: str) -> int:
    return _LARGEST_MATRIX if operator in OF_MATRICES else _LARGEST_VECTOR


def _blocks(axes: Mapping[str, int]) -> tuple[int, int]:
    return axes["seeds"], axes["tries"]


def _of_blocks(axes: Mapping[str, int], blocks: int, steps: int) -> dict[str, int]:
    return {**axes, "seeds": blocks, "tries": steps}


def _median(repeat: RepeatFigures) -> float | None:
    return repeat.latency.p50_s if repeat.latency else None


def _mean(repeat: RepeatFigures) -> float | None:
    return repeat.latency.mean_s if repeat.latency else None


_LATENCY = Metric("operator_latency", "call, median", "s", Better.LOWER, 0.02, _median)
_MEAN = Metric("operator_mean", "call, mean", "s", Better.LOWER, 0.05, _mean)
_SHARED = {"throughput", "cold_start", "first_step", "peak_memory", "peak_device_memory", "image_size"}

RULES = ModeRules(
    metrics=(_LATENCY, _MEAN, *(metric for metric in TIMED if metric.name in _SHARED)),
    columns=(_LATENCY, _MEAN),
    parity=ParityRule(output_bars=BARS),
    subjects=Subjects(
        kind="operator",
        names=tuple(BARS),
        axes=(
            Axis("size", "Values of a vector, or rows of a square matrix.", _sizes, _largest),
            Axis("seeds", "Draws of the inputs.", lambda _operator: (SEEDS,), lambda _operator: _MOST_SEEDS),
            Axis("tries", "Timed calls with each draw.", lambda _operator: (TRIES,), lambda _operator: _MOST_TRIES),
        ),
        blocks=_blocks,
        of_blocks=_of_blocks,
    ),
    step="a call",
    size_of=lambda work: dict(work.axes)["size"],
    position=6,
)
