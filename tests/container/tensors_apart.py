"""The distance between two tensors of answers."""

from typing import Any

import numpy as np

from orchestrator.results.parity.contract import Tensor


def apart(one: Tensor, other: dict[str, Any], floor: float = 0.0) -> float:
    """Relative norm of the difference, by the sketches of both."""
    distance = float(np.linalg.norm(np.subtract(one.sketch, other["sketch"])))
    return distance / max(other["norm"], floor)
