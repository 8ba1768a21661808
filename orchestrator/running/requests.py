"""From a planned cell to the request that its container reads."""

from dataclasses import replace

from orchestrator.catalog import idle_builders
from orchestrator.devices import Allocation
from orchestrator.domain import Cell, Plan, System, variables, without_variables
from orchestrator.modes.parts.load import Load
from orchestrator.results.contract import MIN_BLOCK_S, DataRequest, NetworkRequest, Request
from orchestrator.user_files import MountedData, Network

MODEL_FILE = "model.py"
DEFINITION_FILE = "definition.py"


def request_for(  # noqa: PLR0913 - all that makes a request, the last one by name
    cell: Cell, repeat: int, builder: str, seed: int, allocation: Allocation, *, pinned: bool
) -> Request:
    """Build the request of one repeat. `pinned` is true if the runtime confines it to its CPUs."""
    return Request(
        cell=cell.id,
        repeat=repeat,
        framework=cell.framework.name,
        builder=builder,
        model=cell.workload.model,
        mode=cell.workload.mode,
        axes=_axes(cell),
        batch_size=cell.global_batch,
        load=_load(cell),
        generation=cell.workload.generation,
        largest_batch=cell.workload.searches,
        dataset=cell.workload.dataset,
        feed=cell.workload.feed,
        workers=cell.workload.workers,
        options=without_variables(cell.options),
        variables=variables(cell.options),
        seed=seed,
        threads=len(allocation.cpus),
        cpuset=cpuset_for(cell.system, allocation, pinned=pinned),
        gpus=cell.system.gpus,
        warmup_steps=cell.duration.warmup_steps,
        steps=cell.duration.steps,
        epochs=cell.duration.epochs,
        min_blocks=cell.duration.blocks,
        latency_steps=cell.duration.latency_steps,
        evaluate_every_epoch=cell.duration.evaluate_every_epoch,
        # No number of free steps lasts as long as a block must. Every call of a subject is synchronised, so that a
        # block may be as short as it likes.
        min_block_s=0.0 if builder in idle_builders() or cell.workload.rules.subjects else MIN_BLOCK_S,
    )


def _load(cell: Cell) -> Load | None:
    """Return the load with the requests that are asked, of which a profile takes fewer than the id says."""
    load = cell.workload.load
    return replace(load, requests=cell.duration.steps or load.requests) if load else None


def _axes(cell: Cell) -> dict[str, int]:
    """Return the axes with the blocks that are timed, of which a profile takes fewer than the axes of the id say."""
    axes, subjects = dict(cell.workload.axes), cell.workload.rules.subjects
    if subjects is None:
        return axes
    blocks = cell.duration.blocks
    return subjects.of_blocks(axes, blocks, (cell.duration.steps or blocks) // blocks)


def with_files(request: Request, plan: Plan, definition: str) -> tuple[Request, dict[str, str]]:
    """Name the files that go beside a request, and give their texts by name.

    These are the user's own model, where it is one, and the framework's own definition of the model, where the cell
    has its SHA-256; all else is in the image.
    """
    files = {
        ("model_file", MODEL_FILE): next((each for each in plan.models if each.name == request.model), None),
        ("definition_file", DEFINITION_FILE): plan.definition(request.model, definition),
    }
    named = {key: file.source for key, file in files.items() if file}
    return request.model_copy(update=dict(named.keys())), {name: text for (_, name), text in named.items()}


def with_network(request: Request, network: Network | None, folder: str) -> Request:
    """Ask for a network in place of a model. `folder` is its place as the container sees it."""
    if network is None:
        return request
    asked = NetworkRequest(
        folder=folder,
        file=network.entry,
        sha256=network.sha256,
        files=tuple(sorted(file.path for file in network.files)),
        inputs=network.inputs,
        outputs=network.outputs,
        parameters=network.parameters,
        multiply_adds=network.multiply_adds,
        batch=network.batch,
        dimensions=dict(network.dimensions),
    )
    return request.model_copy(update={"network": asked})


def with_data(request: Request, data: MountedData | None, folder: str) -> Request:
    """Add a dataset outside the image to a request. `folder` is its place as the container sees it."""
    if data is None:
        return request
    request_data = DataRequest(
        folder=folder,
        format=data.format,
        image=data.image,
        classes=data.classes,
        training=data.training,
        testing=data.testing,
        files=dict(data.files),
        stand_in=data.stand_in,
        inputs=data.inputs,
    )
    return request.model_copy(update={"data": request_data})


def cpuset_for(system: System, allocation: Allocation, *, pinned: bool) -> tuple[int, ...] | None:
    """Return the CPUs a process must pin itself to.

    It is None if the runtime has pinned it, or if it may use every CPU.
    """
    return None if pinned else allocation.confined_to(system) or None
