"""Training, whose step runs forward and backward and updates the weights by the optimizer."""

from orchestrator.modes.parts.metrics import ENERGY, FIRST_EPOCH, TIMED
from orchestrator.modes.parts.rules import ModeRules, ParityRule

RULES = ModeRules(
    metrics=TIMED,
    columns=(FIRST_EPOCH, ENERGY),
    parity=ParityRule(
        compared=frozenset({"weights", "first_loss", "gradients", "losses", "optimizer", "dropout"}),
        needed={"weights": "initial values", "gradients": "first gradients"},
        asked=frozenset({"native_layers", "weights", "given_weights", "training"}),
    ),
    has_loss=True,
    evaluates=True,
    step="a training step",
    passes=3,  # the backward pass takes about twice as long as the forward pass
    position=1,
)
