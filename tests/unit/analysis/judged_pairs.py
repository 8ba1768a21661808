"""Pairs of cells with the verdict on their work."""

from typing import Any

from parity_results import MXNET, TORCH, side

from orchestrator.analysis.parity.work import PairParity, pair
from orchestrator.domain import Mode


def judged(mode: Mode = Mode.TRAIN, **changes: Any) -> PairParity:
    """A torch that is right beside an mxnet that answers with these changes."""
    return pair(side(TORCH), side(MXNET, **changes), mode)
