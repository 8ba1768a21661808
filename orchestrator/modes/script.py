"""Foreign scripts: what they do is their own, and so are the figures that they print."""

from orchestrator.modes.parts.rules import ModeRules

RULES = ModeRules(times_steps=False, position=3)
