"""The search for the largest batch that fits the memory of a GPU, in place of the timing of a mode."""

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.modes.parts.rules import ModeRules
from orchestrator.modes.parts.settings import Duration

MAX: Final = "max"
"""The batch size of a matrix that asks for the search."""
BatchSize = int | Literal["max", "frontier"]
"""A batch size as a matrix has it; the last one stands for all sizes of a frontier."""
GAP: Final = 0.01
"""The smallest batch refused is at most so much above the largest that fits. The container has the same gap."""
STEPS: Final = Duration(warmup_steps=1, steps=2, blocks=1, latency_steps=0)
"""The steps of each try, which shows that they fit, and not how long they take."""
OwnSearch = Annotated[bool, Field(exclude_if=lambda searches: not searches)]
"""True for a search; JSON holds it only then."""

LARGEST_BATCH: Final = Metric(
    "largest_batch", "largest batch", "samples", Better.HIGHER, 0.02, lambda repeat: repeat.largest_batch
)
"""The one metric of a search, which decides wherever a search is judged."""


def of_search(rules: ModeRules) -> ModeRules:
    """Return the rules of a mode for a search, whose steps are not timed."""
    return replace(rules, metrics=(LARGEST_BATCH,), columns=(LARGEST_BATCH,), times_steps=False, evaluates=False)
