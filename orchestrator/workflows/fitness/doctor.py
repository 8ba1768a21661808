"""The fitness of a host to measure."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from orchestrator.devices import Gpu, Inventory, vitals
from orchestrator.devices.fitness import HostFinding, Level, fitness, is_fit
from orchestrator.devices.shares import shares
from orchestrator.devices.vitals import Vitals
from orchestrator.engine import abilities, gpu_probe
from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.engine.gpu_probe import NoAccess
from orchestrator.errors import HostError
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.interference import stored_proof, why_serial
from orchestrator.workflows.host.inventory import inventory_of
from orchestrator.workflows.inputs.planned_matrix import site_base_image

ENGINE_TIMEOUT_S = 20.0
SIDE_BY_SIDE = "GPUs at once"
PYTHON = "3.11"
"""The Python whose base image is looked for. The catalog has releases for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    """The options of `doctor`."""

    results: Path = option_values.RESULTS
    """The results folder, which must have room."""
    base_image: str | None = None
    """Template of the image to build on."""


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """The findings on a host."""

    findings: tuple[HostFinding, ...]
    """A finding for each check, with its level and what to change."""

    @property
    def is_fit(self) -> bool:
        """True unless a finding says that the host is unfit to measure."""
        return is_fit(self.findings)


def doctor(options: DoctorOptions, host: Host) -> DoctorResult:
    """Check the host's load, clocks, memory, disks, GPUs and engine.

    Example: `doctor(DoctorOptions(), this_host()).is_fit`
    """
    wanted = site_base_image(PYTHON, options.base_image, host.environment)
    filling = {"results": options.results, "environments": host.cache}
    present, fault = vitals.gpus()
    seen = replace(vitals.examine(), gpus=present, gpu_fault=fault, base_image=wanted)
    here = inventory_of(host)
    return DoctorResult((*fitness(_with_engine(seen, filling, host, here.gpus)), *_side_by_side(host, here)))


def _side_by_side(host: Host, here: Inventory) -> Sequence[HostFinding]:
    """Return what is known of cells on different GPUs at once, if there are several GPUs."""
    if len(here.gpus) < 2:
        return ()
    proof, divided = stored_proof(host.cache, here), shares(here)
    if why := why_serial(proof, divided):
        level = Level.WARNING if proof or not divided else Level.UNKNOWN
        return (HostFinding(SIDE_BY_SIDE, level, f"cells run one after the other: {why}"),)
    return (HostFinding(SIDE_BY_SIDE, Level.OK, str(proof)),)


def _with_engine(seen: Vitals, filling: dict[str, Path], host: Host, usable: Sequence[Gpu]) -> Vitals:
    """Add the engine's answers, also on the usable GPUs, and the free space of all places that fill up."""
    try:
        client = connect(host.environment, timeout_s=ENGINE_TIMEOUT_S)
    except HostError as error:
        return replace(seen, engine_problem=str(error), disks=vitals.disks(filling))
    with contextlib.closing(client):
        folder = Path(str(client.info().get("DockerRootDir") or ""))
        # Of an engine on another machine, or behind another user's walls, the disk cannot be asked from here.
        images = {"images": folder} if folder.is_absolute() and folder.is_dir() else {}
        # An image is never pulled for this.
        has_image = engine.facts(client, seen.base_image) is not None
        access_to = partial(gpu_probe.working, client, seen.base_image) if has_image else None
        return replace(
            _with_gpu_access(seen, usable, access_to),
            engine=abilities.read(client),
            base_problem=engine.unavailable(client, seen.base_image) or "",
            disks=vitals.disks(filling | images),
        )


def _with_gpu_access(
    seen: Vitals, usable: Sequence[Gpu], access_to: Callable[[Sequence[str]], GpuAccess | NoAccess] | None
) -> Vitals:
    """Ask for the usable GPUs in a container, if there are any. Without its image there is nothing to ask in."""
    if not usable:
        return seen
    if access_to is None:
        return replace(
            seen,
            gpu_access_unknown=f"the engine has no image {seen.base_image}, in which CUDA could be asked",
            gpu_access_remedy="pull that image, or name one that the engine has (--base-image), and call this again",
        )
    access = access_to([gpu.uuid for gpu in usable])
    if isinstance(access, GpuAccess):
        return replace(seen, gpu_access=access.value)
    return replace(seen, gpu_access_problem=access.reason, gpu_access_remedy=access.remedy)
