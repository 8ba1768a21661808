"""Inference, whose step runs forward alone."""

from orchestrator.modes.parts.metrics import ENERGY, TIMED
from orchestrator.modes.parts.rules import INFERENCE, ModeRules

RULES = ModeRules(
    metrics=TIMED,
    columns=(ENERGY,),
    parity=INFERENCE,
    step="an inference step",
    position=2,
)
