"""The ways in which engines give GPUs to a container."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from docker.types import DeviceRequest

from orchestrator.engine.abilities import gpu_problem, is_podman


class GpuAccess(StrEnum):
    """A way to give GPUs to a container."""

    CDI = "CDI"
    """By the names of the Container Device Interface, such as `nvidia.com/gpu=UUID`."""
    DEVICE_REQUESTS = "device requests"
    """By the engine's own hook for NVIDIA."""
    RUNTIME = "the nvidia runtime"
    """By a runtime that reads a variable."""


def host_settings(access: GpuAccess, uuids: Sequence[str]) -> dict[str, Any]:
    """Return the options for `create_host_config` that give a container these GPUs."""
    if access is GpuAccess.CDI:
        names = [f"nvidia.com/gpu={uuid}" for uuid in uuids]
        return {"device_requests": [DeviceRequest(driver="cdi", device_ids=names)]}
    if access is GpuAccess.DEVICE_REQUESTS:
        return {"device_requests": [DeviceRequest(driver="nvidia", device_ids=list(uuids), capabilities=[["gpu"]])]}
    return {"runtime": "nvidia"}


def variables(access: GpuAccess, uuids: Sequence[str]) -> dict[str, str]:
    """Return the environment variables that give a container these GPUs and no others.

    An image of CUDA asks for all GPUs by a variable, which a runtime that is the engine's default would obey.
    """
    if access is GpuAccess.CDI:
        return {"NVIDIA_VISIBLE_DEVICES": "void"}
    if access is GpuAccess.DEVICE_REQUESTS:
        return {}
    return {"NVIDIA_VISIBLE_DEVICES": ",".join(uuids), "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}


def candidates(information: Mapping[str, Any], version: Mapping[str, Any]) -> list[GpuAccess]:
    """Return the ways that an engine may have, by what it says of itself, in the order in which to try them.

    Podman knows the names of the Container Device Interface alone, and older ones not even those. It starts a container
    with other requests, without GPUs.
    """
    if is_podman(version):
        return [] if gpu_problem(version) else [GpuAccess.CDI]
    has_cdi = bool(information.get("CDISpecDirs") or information.get("DiscoveredDevices"))
    has_runtime = "nvidia" in (information.get("Runtimes") or {})
    ways = {GpuAccess.CDI: has_cdi, GpuAccess.DEVICE_REQUESTS: True, GpuAccess.RUNTIME: has_runtime}
    return [access for access, is_possible in ways.items() if is_possible]


def remedy(version: Mapping[str, Any]) -> str:
    """Return what to install so that an engine gives containers GPUs."""
    if gpu_problem(version):
        return "use Podman 5.4 or newer, Docker, or --runtime venv"
    toolkit = "install the NVIDIA Container Toolkit"
    if is_podman(version):
        return f"{toolkit}, and run `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml`"
    return f"{toolkit}, run `nvidia-ctk runtime configure --runtime=docker`, and start the engine again"
