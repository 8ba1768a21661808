"""The content of a parity check: all that its answer depends on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from orchestrator.devices import Allocation, Inventory
from orchestrator.planning.parity import Check
from orchestrator.results.parity.contract import REVISION
from orchestrator.runtimes import Ready
from orchestrator.user_files import ModelFile, Network

Machine = tuple[str | None, tuple[str, ...], str | None]
"""The computing devices: the model of the CPU, those of the GPUs that a check is given, and their driver."""


def environment_of(ready: Ready, source: str) -> list[Any]:
    """Pick what an environment is known by.

    An image holds its own copy of `benchmarks/`, and so has it in its id; elsewhere `source`, their digest, stands for
    it.
    """
    return [ready.image_id] if ready.image_id else [ready.handle, ready.versions, ready.variables, source]


def content_of(
    check: Check, seed: int, environment: Sequence[Any], machine: Machine, own: ModelFile | Network | None = None
) -> str:
    """Hash everything a check's answer depends on, with `REVISION`, as 16 hexadecimal digits.

    The user's `own` model is in no environment, nor is a framework's own definition of a model. Libraries choose their
    kernels by the machine, and a fault may be in one of them alone.
    """
    model: Any = own.sha256 if own else check.model
    if isinstance(own, Network):
        model = [own.sha256, own.dimensions, [astuple(each) for each in own.inputs]]
    content: list[Any] = [check.builder, model, check.options, check.system.gpus, check.batch_size, seed]
    content += [check.definition] if check.definition else []
    content += [check.axes] if check.axes else []
    content += [] if check.trains else ["inference"]
    content += [["generation", *astuple(check.generation)]] if check.generation else []
    return hashlib.sha256(json.dumps([REVISION, environment, content, machine]).encode()).hexdigest()[:16]


def machine_of(here: Inventory, allocation: Allocation) -> Machine:
    """Return the devices that a check computes on."""
    return here.cpu_model, tuple(gpu.name for gpu in allocation.gpus), here.driver if allocation.gpus else None
