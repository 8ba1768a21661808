"""`Matrix` + catalog + selection → `Plan`; no host is looked at."""

from orchestrator.planning.document import plan_document, plan_json
from orchestrator.planning.estimate import Estimate, estimate
from orchestrator.planning.parity import Check, check_id, checks
from orchestrator.planning.planner import DEFAULT_LIMIT, plan
from orchestrator.planning.selection import Selection, narrowed

__all__ = [
    "DEFAULT_LIMIT", "Check", "Estimate", "Selection", "check_id", "checks", "estimate", "narrowed", "plan",
    "plan_document", "plan_json",
]  # fmt: skip
