"""Is it safe to move from one release to another: two sides, paired cells, looks, and a verdict for each pair."""

from orchestrator.regression.across import Operand, across
from orchestrator.regression.metrics import METRICS, Gate, parse_gates
from orchestrator.regression.model import Judged, JudgedPair, Regression, Verdict
from orchestrator.regression.pairing import Known, Pair, Pairing, pairing
from orchestrator.regression.rules import Rules, looks_up_to
from orchestrator.regression.sides import Side, parse
from orchestrator.regression.single_steps import blocks_needed, too_few_blocks
from orchestrator.regression.stored import Trial, regression_schema, store_trial, stored_regression, stored_trial
from orchestrator.regression.trial import carry_out, first_plan, trial_of

__all__ = [
    "METRICS", "Gate", "Judged", "JudgedPair", "Known", "Operand", "Pair", "Pairing", "Regression", "Rules",
    "Side", "Trial", "Verdict", "across", "blocks_needed", "carry_out", "first_plan", "looks_up_to", "pairing", "parse",
    "parse_gates", "regression_schema", "store_trial", "stored_regression", "stored_trial", "too_few_blocks",
    "trial_of",
]  # fmt: skip
