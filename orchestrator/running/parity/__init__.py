"""Execution of parity checks, before the measurements of a run so that they disturb none."""

from orchestrator.running.parity.checks import check_parity

__all__ = ["check_parity"]
