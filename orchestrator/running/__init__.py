"""Running a plan: order, resume, launch, watch, time out, classify."""

from orchestrator.running.execution import Policy, Surroundings, execute
from orchestrator.running.order import new_run_name, order

__all__ = ["Policy", "Surroundings", "execute", "new_run_name", "order"]
