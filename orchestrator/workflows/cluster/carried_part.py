"""A part measured on a node that shares no folder with the host that submits. Its results are left in a file there."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__
from orchestrator.bundles.returns.collect import collect
from orchestrator.clusters.carried import unpack
from orchestrator.clusters.folder import folder_name, run_of_job
from orchestrator.errors import HostError
from orchestrator.results.names import PARTS
from orchestrator.workflows.cluster.part import PartOptions, PartResult, measure_part, this_node
from orchestrator.workflows.host.host import Host

ARRAY_VARIABLE, TASK_VARIABLE = "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"
RESTARTS_VARIABLE = "SLURM_RESTART_COUNT"
"""It is there once a job was requeued. What its earlier starts have measured lies on their nodes."""
ENDING = ".tar.zst"


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedPartOptions:
    """The options of `run --part NAME --on-node DIR`."""

    part: str
    """The name of the part."""
    folder: Path
    """The folder of the run on this node. It is made where it is missing."""


def measure_carried_part(options: CarriedPartOptions, inputs: bytes, host: Host) -> PartResult:
    """Measure a part from its inputs, in a folder of this job, and collect its run into a file next to it.

    What was measured is collected even if not all of it could be. Raises as `measure_part` and `collect` do.
    """
    name = run_of_job(folder_name(this_node(host)), *_job(host))
    place = options.folder / name
    try:
        place.mkdir(parents=True, mode=0o700)
        unpack(inputs, place)
    except OSError as error:
        raise HostError(f"{place}: cannot be written: {error.strerror}; `results` of the site names it") from error
    part = PartOptions(part=place / PARTS / options.part, own_run=name)
    run = part.run()
    try:
        return measure_part(part, host)
    finally:
        if run.has_begun:
            collected = collect([run], options.folder / f"{options.part}-{name}{ENDING}", __version__)
            host.say(f"results: {collected.path}; where the run was submitted: orchestrator merge FILE")


def _job(host: Host) -> tuple[str, int]:
    """Return the job that this process is in, such as `12_3`, and the number of times that it was requeued."""
    array, task, restarts = (
        host.environment.get(name, "0") for name in (ARRAY_VARIABLE, TASK_VARIABLE, RESTARTS_VARIABLE)
    )
    return f"{array}_{task}", int(restarts) if restarts.isdecimal() else 0
