"""Execution of a plan, from the order of its repeats to their outcomes."""

from orchestrator.running.execution import Policy, execute
from orchestrator.running.order import new_run_name, order, unfinished
from orchestrator.running.surroundings import Surroundings

__all__ = ["Policy", "Surroundings", "execute", "new_run_name", "order", "unfinished"]
