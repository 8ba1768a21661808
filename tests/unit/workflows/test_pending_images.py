"""The images that a run will need: those of cells that this host has the devices for."""

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.devices import Cpu, Gpu, Inventory
from orchestrator.domain import CudaNeeds, Plan, System
from orchestrator.results.store import Run
from orchestrator.workflows.measure.jobs import _pending_images
from orchestrator.workflows.option_values import RuntimeName
from tests.unit.running.running_fakes import SPEC, a_cell

HERE = Inventory((Cpu(0, 0),), 2**30, (Gpu(0, "GPU-0", "Example H100", 80 * 2**30),), driver="550.1")
FITTING, OTHER = System("h100", gpus=1, gpu="*H100"), System("a100", gpus=1, gpu="*A100")


def pending(folder: Path, *systems: System, needs: CudaNeeds | None = None, **settings: Any) -> list[str]:
    image = replace(SPEC, environment=replace(SPEC.environment, cuda=needs))
    cells = tuple(a_cell(system.name, system) for system in systems)
    job = SimpleNamespace(
        plan=Plan("p", 1, (image,), cells), run=Run(folder), runtime=RuntimeName.DOCKER, bundle=None,
        settings=BuildSettings(**settings), stop=threading.Event(),
    )  # fmt: skip
    return [each.name for each in _pending_images(job, HERE, retry_failed=False)]  # type: ignore[arg-type]  # a part of it


@pytest.mark.parametrize("systems", [(FITTING, OTHER), (OTHER, FITTING), (FITTING,)])
def test_one_system_that_fits_is_enough(tmp_path: Path, systems: tuple[System, ...]) -> None:
    """Systems with the same number of GPUs share an image, in whatever order their cells come."""
    assert pending(tmp_path, *systems) == [SPEC.name]


def test_images_without_a_device_are_not_needed(tmp_path: Path) -> None:
    assert pending(tmp_path, OTHER) == []


def test_images_of_a_newer_driver_are_not_needed(tmp_path: Path) -> None:
    """With packages of another index, the catalog does not know what they need."""
    newer = CudaNeeds("13.0", "580.65.06")

    assert pending(tmp_path, FITTING, needs=newer) == []
    assert pending(tmp_path, FITTING, needs=newer, pip_index="https://example.org/simple") == [SPEC.name]
