"""The description of a mode on the host's side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from orchestrator.modes.parts.metrics import Metric
from orchestrator.modes.parts.subjects import Subjects

Evidence = Literal[
    "shapes",
    "weights",
    "first_loss",
    "gradients",
    "losses",
    "logits",
    "dropout",
    "optimizer",
    "outputs",
    "choices",
    "tokens",
    "failure",
]
"""The parts in which two parity results can differ, and `failure` if there is no result."""
SessionPart = Literal["native_layers", "weights", "given_weights", "training"]
"""The abilities of a session that a parity result can lack: layers, weights, a start from given ones, training."""


@dataclass(frozen=True, slots=True)
class ParityRule:
    """The rule for two cells of a mode that do the same work.

    The shapes of layers must always agree.
    """

    compared: frozenset[Evidence] = frozenset()
    """Evidence that must agree within its bar if both sides have it."""
    needed: Mapping[Evidence, str] = field(default_factory=dict)
    """Tensors without which nobody can call it the same work, with their names for people."""
    asked: frozenset[SessionPart] = frozenset()
    """Parts of a session that an answer must not lack."""
    output_bars: Mapping[str, float] = field(default_factory=dict)
    """Bars of the outputs that results themselves hold, by subject. A mode with them has no parity containers."""


INFERENCE: Final = ParityRule(
    compared=frozenset({"weights", "first_loss", "logits"}),
    needed={"weights": "initial values", "logits": "logits of the step that is timed"},
    asked=frozenset({"native_layers", "weights"}),
)
"""The rule of the modes whose step runs forward alone."""
GENERATION: Final = ParityRule(
    compared=frozenset({"weights", "logits", "tokens"}),
    needed={"weights": "initial values", "logits": "logits after the prompt", "tokens": "generated tokens"},
    asked=frozenset({"native_layers", "weights"}),
)
"""The rule of the modes that generate tokens."""


@dataclass(frozen=True, slots=True)
class ModeRules:
    """The description of a mode by its metrics, its parity rule, its part of the report, and its steps."""

    metrics: tuple[Metric, ...] = ()
    """In the order in which they are shown."""
    parity: ParityRule = ParityRule()
    columns: tuple[Metric, ...] = ()
    """Metrics that a report shows in a table of their own, next to what it shows of every mode. None is exact."""
    times_steps: bool = True
    """True if steps are timed and cells ranked; false of scripts, and of searches for the largest batch."""
    subjects: Subjects | None = None
    """The subjects and the axes of a mode that measures no models; None for models and scripts."""
    takes_load: bool = False
    """True if a load says when its samples are asked for, and not the harness."""
    generates: bool = False
    """True if a model generates tokens after prompts."""
    by_tokens: "ModeRules | None" = None
    """The rules where a load asks for tokens after prompts; None of a mode that takes no load."""
    has_loss: bool = False
    """True if a result must hold the loss of its steps, and false if it must hold none."""
    evaluates: bool = False
    """True if loss and accuracy are read after each epoch."""
    step: str = "a step"
    """The plain name of a step of it."""
    sample: str = "sample"
    """The plain name of what throughput counts."""
    passes: int = 1
    """Forward passes that take as long as one step, for estimates."""
    size_of: Callable[[Any], int] | None = None
    """Returns the size of a workload that the mode sweeps, of which a profile may run the smallest and the largest."""
    position: int = 50
    """The position of the mode in lists of modes, lower ones first, equal ones by name."""

    @property
    def per_s(self) -> str:
        """Return the unit of throughput, such as `samples/s`."""
        return f"{self.sample}s/s"

    def __post_init__(self) -> None:
        """Refuse an exact metric as a column, since a column is made of repeats. Raises `ValueError`."""
        exact = [metric.name for metric in self.columns if metric.is_exact]
        if exact:
            raise ValueError(f"columns hold values of repeats, and {', '.join(exact)} has none: it is exact")
