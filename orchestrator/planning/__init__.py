"""The package that makes a `Plan` of a matrix, the catalog and a selection, without looking at a host."""

from orchestrator.planning.cost.durations import Assumed, Earlier
from orchestrator.planning.cost.estimate import Known, PlanEstimate, build_s, disk_bytes, estimate, seconds_of_parts
from orchestrator.planning.document.plan import PLAN, plan_envelope, script_document
from orchestrator.planning.parity import Check, check_id, checks
from orchestrator.planning.planner import plan
from orchestrator.planning.releases import left_out
from orchestrator.planning.selection import Selection, narrowed

__all__ = [
    "PLAN",
    "Assumed",
    "Check",
    "Earlier",
    "Known",
    "PlanEstimate",
    "Selection",
    "build_s",
    "check_id",
    "checks",
    "disk_bytes",
    "estimate",
    "left_out",
    "narrowed",
    "plan",
    "plan_envelope",
    "script_document",
    "seconds_of_parts",
]  # fmt: skip
