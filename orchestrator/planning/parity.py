"""The parity containers of a plan, one for each image, model and set of options."""

import hashlib
import re
from dataclasses import dataclass

from orchestrator.catalog import idle_builders
from orchestrator.domain import Cell, Framework, Options, OutputLimit, Plan, System
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.settings import PARITY_BATCH
from orchestrator.modes.parts.subjects import AxisValues
from orchestrator.planning import ids

_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]")


@dataclass(frozen=True, slots=True)
class Check:
    """One parity container, whose result counts for every cell with its image, model and options."""

    id: str
    """A path that is unique in a plan, such as `mxnet-1.9.1-cpu/lenet-hybridize=true`."""
    image: str
    builder: str
    framework: Framework
    model: str
    options: Options
    definition: str
    """SHA-256 of the framework's own definition of the model; empty if its builder makes the model."""
    system: System
    """Taken from the first of its cells, as are the two limits; none of them changes what is computed."""
    timeout_s: float
    output: OutputLimit
    batch_size: int = PARITY_BATCH
    axes: AxisValues = ()
    """Of a model that has sizes."""
    trains: bool = True
    """False if none of its cells trains, so that only inference is compared."""
    generation: Generation | None = None
    """The lengths of a generation, whose tokens are compared; None of all other cells."""


def check_id(cell: Cell) -> str:
    """Return the id of the check that counts for a cell, with every option in it, even at its default."""
    environment = (cell.image.partition("/")[2] or cell.image).replace(":", "-")
    work = cell.workload.model + (f"-size={cell.workload.size}" if cell.workload.size else "")
    work += "".join(f"-{name}={ids.option_text(value)}" for name, value in cell.options)
    work += f"-generate{cell.workload.generation.suffix}" if cell.workload.generation else ""  # under load too
    work += "" if cell.parity_batch == PARITY_BATCH else f"-b{cell.parity_batch}"
    return f"{_path_part(environment)}/{_path_part(work)}"


def _path_part(text: str) -> str:
    """Return a text as a part of a path, with a digest if a character had to be replaced."""
    safe = _UNSAFE.sub("-", text)
    if not safe.strip("."):
        safe = f"-{safe}"
    digest = "" if safe == text else f"-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return ids.bounded(safe + digest, ids.MAX_PART)


def checks(plan: Plan) -> tuple[Check, ...]:
    """Return every check of a plan in the order of its cells, or none if the plan asks for no parity.

    Of a builder that computes nothing there is nothing to compare.
    """
    idle = idle_builders()
    builders = {image.name: image.environment.builder for image in plan.images}
    by_id: dict[str, Check] = {}
    # A script's work is compared with nothing, and results of a subject hold its outputs.
    compared = [cell for cell in plan.cells if plan.parity and not (cell.script or cell.workload.rules.subjects)]
    trained = {check_id(cell) for cell in compared if cell.workload.rules.has_loss}
    for cell in compared:
        builder = builders.get(cell.image)
        name = check_id(cell)
        if builder is not None and builder not in idle and name not in by_id:
            by_id[name] = Check(
                id=name,
                image=cell.image,
                builder=builder,
                framework=cell.framework,
                model=cell.workload.model,
                options=cell.options,
                definition=cell.definition,
                system=cell.system,
                timeout_s=cell.timeout_s,
                output=cell.output,
                batch_size=cell.parity_batch,
                axes=cell.workload.axes,
                trains=name in trained,
                generation=cell.workload.generation,
            )
    return tuple(by_id.values())
