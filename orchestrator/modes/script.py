"""Foreign scripts, whose work and whose printed figures are their own."""

from orchestrator.modes.parts.rules import ModeRules

RULES = ModeRules(times_steps=False, position=5)
