"""Which parity containers a plan needs: one for each image, model and set of options. Pure, derived from the plan."""

import hashlib
import re
from dataclasses import dataclass

from orchestrator.domain import Cell, Framework, Options, OutputLimit, Plan, System
from orchestrator.planning import ids

BATCH_SIZE = 128
"""Of every check, whatever the cells' own: with batch norm, smaller batches let rounding grow into chaos."""
UNCHECKED_BUILDERS = frozenset({"noop"})
"""They compute nothing that could be held against anything."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]")


@dataclass(frozen=True, slots=True)
class Check:
    """One parity container: what it checks holds for every cell with this image, model and options."""

    id: str
    """Unique in a plan, and a path: `mxnet-1.9.1-cpu/lenet-hybridize=true`."""
    image: str
    builder: str
    framework: Framework
    model: str
    options: Options
    definition: str
    """SHA-256 of the framework's own definition of the model; empty where its builder makes the model."""
    system: System
    """Of the first of its cells, as are the two limits: none of them changes what is computed."""
    timeout_s: float
    output: OutputLimit


def check_id(cell: Cell) -> str:
    """Name the check that speaks for a cell; every option is in it, defaults too."""
    environment = (cell.image.partition("/")[2] or cell.image).replace(":", "-")
    work = cell.workload.model + "".join(f"-{name}={ids.option_text(value)}" for name, value in cell.options)
    return f"{_path_part(environment)}/{_path_part(work)}"


def _path_part(text: str) -> str:
    """A text as a path's part; where something had to be replaced, a digest tells it from others."""
    safe = _UNSAFE.sub("-", text)
    if not safe.strip("."):
        safe = f"-{safe}"
    digest = "" if safe == text else f"-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return ids.bounded(safe + digest, ids.MAX_PART)


def checks(plan: Plan) -> tuple[Check, ...]:
    """Every check of a plan, in the order of its cells; none where the plan asks for no parity."""
    builders = {image.name: image.environment.builder for image in plan.images}
    found: dict[str, Check] = {}
    for cell in plan.cells if plan.parity else ():
        if cell.script:
            continue  # what it trains is nobody's business but its own
        builder = builders.get(cell.image)
        name = check_id(cell)
        if builder is not None and builder not in UNCHECKED_BUILDERS and name not in found:
            found[name] = Check(
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
            )
    return tuple(found.values())
