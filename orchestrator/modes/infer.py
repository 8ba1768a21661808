"""Inference, whose step runs forward alone."""

from orchestrator.modes.parts.metrics import ENERGY, TIMED
from orchestrator.modes.parts.rules import ModeRules, ParityRule

RULES = ModeRules(
    metrics=TIMED,
    columns=(ENERGY,),
    parity=ParityRule(
        compared=frozenset({"weights", "first_loss", "logits"}),
        needed={"weights": "initial values", "logits": "logits of the step that is timed"},
        asked=frozenset({"native_layers", "weights"}),
    ),
    step="an inference step",
    position=2,
)
