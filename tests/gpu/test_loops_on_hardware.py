"""Throughput of a run on a real GPU against a loop written by hand: `make test-gpu`, without Docker."""

from pathlib import Path

import pytest

from bench.networks import on_host
from orchestrator.domain import System
from tests.gpu.hardware import IS_GPU, pin_of

pytestmark = pytest.mark.gpu

PAIRS, STEPS = (10, 200) if IS_GPU else (1, 2)
FAR = (0.2, 5.0)
"""On a CPU the loops are run for their own sake, and a ratio outside says that they do other work."""


@pytest.mark.parametrize("model", on_host.BATCHES)
@pytest.mark.parametrize("framework", on_host.FRAMEWORKS)
def test_throughput_is_that_of_a_loop(framework: str, model: str, tmp_path: Path) -> None:
    """The whole 90 % interval of the ratio lies within 3 %."""
    pin_of(framework)
    system = on_host.ON_GPU if IS_GPU else System("cpu", cpus=1)
    ratio = on_host.measure(on_host.installed(framework), model, system, pairs=PAIRS, steps=STEPS, scratch=tmp_path)
    said = f"{ratio.ratio:.3f} ({ratio.low:.3f}–{ratio.high:.3f}) over {ratio.pairs} pairs"

    if IS_GPU:
        assert ratio.within, said
    else:
        assert FAR[0] < ratio.ratio < FAR[1], said
