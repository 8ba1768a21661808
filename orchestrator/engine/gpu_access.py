"""The ways in which engines give GPUs to a container."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from docker.types import DeviceRequest

ALL = "all"
"""In the place of a UUID: every GPU."""


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
        which = {"count": -1} if list(uuids) == [ALL] else {"device_ids": list(uuids)}
        return {"device_requests": [DeviceRequest(driver="nvidia", capabilities=[["gpu"]], **which)]}
    return {"runtime": "nvidia"}


def variables(access: GpuAccess, uuids: Sequence[str]) -> dict[str, str]:
    """Return the environment variables that give a container these GPUs."""
    if access is not GpuAccess.RUNTIME:
        return {}
    return {"NVIDIA_VISIBLE_DEVICES": ",".join(uuids), "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}


def candidates(information: Mapping[str, Any]) -> list[GpuAccess]:
    """Return the ways that an engine may have, by what it says of itself, in the order in which to try them."""
    has_cdi = bool(information.get("CDISpecDirs") or information.get("DiscoveredDevices"))
    # Podman says nothing of it, and has no other way.
    is_docker = bool(information.get("DockerRootDir"))
    has_runtime = "nvidia" in (information.get("Runtimes") or {})
    ways = {GpuAccess.CDI: has_cdi or not is_docker, GpuAccess.DEVICE_REQUESTS: True, GpuAccess.RUNTIME: has_runtime}
    return [access for access, is_possible in ways.items() if is_possible]
