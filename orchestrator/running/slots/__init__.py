"""Cells on different GPUs of one host at the same time."""

from orchestrator.running.slots.model import Slots

__all__ = ["Slots"]
