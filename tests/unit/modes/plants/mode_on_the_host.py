"""Peek: one step forward, of which nothing is fetched."""

from orchestrator.modes.parts.metrics import TIMED, Better, Metric
from orchestrator.modes.parts.rules import ModeRules, ParityRule

PEEKS = Metric("peeks", "peeks", "1/s", Better.HIGHER, 0.9, lambda repeat: repeat.samples_per_s / 8)
RULES = ModeRules(
    metrics=(*TIMED, PEEKS),
    parity=ParityRule(compared=frozenset({"weights"}), needed={"weights": "initial values"}),
    columns=(PEEKS,),
    step="a peek",
)
