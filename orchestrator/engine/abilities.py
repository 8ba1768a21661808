"""The abilities of an engine, by what it answers: the one place that says how engines differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from weakref import WeakKeyDictionary

import docker
import requests
from docker.errors import DockerException

from orchestrator.wording import listing

_SNAPSHOTTERS = "io.containerd.snapshotter."
"""The storage driver as an engine with containerd's image store names it."""
_CONTROLLERS = {"CPUs": "cpuset", "memory": "memory", "processes": "pids"}
"""Of the limits that every container has, the controllers of control groups that they need."""
_FLAGS = {"CPUs": "CPUSet", "memory": "MemoryLimit", "processes": "PidsLimit"}
_FIRST_PODMAN_WITH_CDI = (5, 4)
"""The version whose Docker-compatible interface heeds the names of the Container Device Interface.

Source: Podman's `pkg/api/handlers/compat/containers_create.go`. Earlier ones drop every request for devices.
"""


_READ: WeakKeyDictionary[docker.DockerClient, "Abilities"] = WeakKeyDictionary()


class EngineKind(StrEnum):
    """The program that an engine is."""

    DOCKER = "Docker"
    PODMAN = "Podman"


@dataclass(frozen=True, slots=True)
class Abilities:
    """The kind of an engine, and its services to containers."""

    kind: EngineKind
    version: str
    api_version: str
    """Of the interface that Docker has, which Podman offers too."""
    is_rootless: bool
    """True if its root is an ordinary user of the host."""
    cgroup_version: int | None
    """Of control groups; None if it does not say."""
    storage: str
    """The driver of its storage, or the snapshotter of containerd."""
    has_containerd_images: bool
    """True if it knows images by their manifests, as containerd's image store does."""
    has_selinux: bool
    """True if it labels its containers, which then read no folder of the host without a label of theirs."""
    has_seccomp: bool
    """True if it can filter system calls. Otherwise it refuses every container with a profile."""
    has_buildkit: bool
    """True if it builds with BuildKit unless it is asked for the classic builder."""
    gpu_problem: str | None = None
    """The reason it gives no container a GPU, if it starts those that ask for one without; else None."""
    unlimited: tuple[str, ...] = ()
    """Of CPUs, memory and processes, those that it sets no limit on."""

    def __str__(self) -> str:
        return ", ".join(
            (
                f"{self.kind} {self.version}",
                f"API {self.api_version}",
                "rootless" if self.is_rootless else "rootful",
                f"control groups {self.cgroup_version or 'unknown'}",
                f"storage {self.storage}{' of containerd' if self.has_containerd_images else ''}",
                f"SELinux {'on' if self.has_selinux else 'off'}",
                f"seccomp {'on' if self.has_seccomp else 'off'}",
                f"BuildKit {'by default' if self.has_buildkit else 'not the default'}",
            )
        )


def read(client: docker.DockerClient) -> Abilities:
    """Return the abilities of an engine, which is asked once for each client. Raises the errors of the client.

    Podman runs several programs for each of these answers, which takes as long as many a question to an image.
    """
    if client not in _READ:
        _READ[client] = _asked(client)
    return _READ[client]


def _asked(client: docker.DockerClient) -> Abilities:
    version = client.version()
    own = _podman_information(client) if is_podman(version) else {}
    return known(client.info(), version, own, builder=_builder(client))


def known(
    information: Mapping[str, Any], version: Mapping[str, Any], podman: Mapping[str, Any], *, builder: str = ""
) -> Abilities:
    """Return the abilities that an engine's answers show.

    `podman` is the answer to Podman's own `/libpod/info`: the compatible one names neither SELinux nor the controllers
    that a rootless engine may use. `builder` is the `Builder-Version` of a ping: `2` for BuildKit.
    """
    kind = EngineKind.PODMAN if is_podman(version) else EngineKind.DOCKER
    options = [str(option).split(",") for option in information.get("SecurityOptions") or ()]
    security = (podman.get("host") or {}).get("security") or {}
    text = str(version.get("Version") or "of unknown version")
    return Abilities(
        kind=kind,
        version=text,
        api_version=str(version.get("ApiVersion") or "unknown"),
        is_rootless=bool(information.get("Rootless")) or any("name=rootless" in option for option in options),
        cgroup_version=_number(information.get("CgroupVersion")),
        storage=str(information.get("Driver") or "unknown"),
        has_containerd_images=has_containerd_images(information),
        has_selinux=bool(security.get("selinuxEnabled")) or any("name=selinux" in option for option in options),
        has_seccomp=any("name=seccomp" in option for option in options),
        has_buildkit=builder == "2",
        gpu_problem=gpu_problem(version),
        unlimited=_unlimited(information, podman),
    )


def is_podman(version: Mapping[str, Any]) -> bool:
    """Return true if the engine is Podman, by the components that it names."""
    return any("podman" in str(component.get("Name")).lower() for component in version.get("Components") or ())


def has_containerd_images(information: Mapping[str, Any]) -> bool:
    """Return true if the engine has containerd's image store, by the driver of its storage."""
    status = information.get("DriverStatus") or ()
    return any(value.startswith(_SNAPSHOTTERS) for entry in status for value in map(str, entry))


def limits_problem(abilities: Abilities) -> str | None:
    """Return why the limits of containers would be ignored, with the remedy, or None if they are set."""
    if not abilities.unlimited:
        return None
    about = f"{abilities.kind} {abilities.version} sets no limit on {listing(abilities.unlimited)} of its containers"
    controllers = listing([_CONTROLLERS[limit] for limit in abilities.unlimited])
    if abilities.is_rootless and abilities.cgroup_version == 1:
        return (
            f"{about}, since it is rootless on control groups version 1; use the engine of root, boot with "
            "systemd.unified_cgroup_hierarchy=1, or use --runtime venv"
        )
    if abilities.is_rootless:
        return f"{about}; have systemd delegate {controllers} to its user, or use --runtime venv"
    return f"{about}; enable the control groups {controllers} in the kernel, or use --runtime venv"


def gpu_problem(version: Mapping[str, Any]) -> str | None:
    """Return why requests for GPUs would be ignored, or None if the engine heeds them."""
    if not is_podman(version) or _release(str(version.get("Version"))) >= _FIRST_PODMAN_WITH_CDI:
        return None
    return f"Podman {version.get('Version')} drops the requests for GPUs that Docker's interface has"


def _unlimited(information: Mapping[str, Any], podman: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is not limited.

    Podman's own answer counts: a rootless one says in the compatible answer what the kernel could limit, not what it
    may limit itself. A flag that an engine leaves out is one that it has always had.
    """
    controllers = (podman.get("host") or {}).get("cgroupControllers")
    if controllers is not None or podman:
        return tuple(limit for limit, controller in _CONTROLLERS.items() if controller not in (controllers or ()))
    return tuple(limit for limit, flag in _FLAGS.items() if information.get(flag) is False)


def _podman_information(client: docker.DockerClient) -> Mapping[str, Any]:
    """Return Podman's own answer, or an empty one from a version that has another interface."""
    try:
        response = client.api.get(f"{client.api.base_url}/v4.0.0/libpod/info")
        answer = response.json() if response.ok else {}
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _builder(client: docker.DockerClient) -> str:
    """Return the version of the builder that the engine prefers; empty if it does not say."""
    try:
        response = client.api.get(f"{client.api.base_url}/_ping")
    except (DockerException, requests.exceptions.RequestException):
        return ""
    return str(response.headers.get("Builder-Version") or "")


def _number(text: object) -> int | None:
    return int(str(text)) if str(text).isdigit() else None


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, such as (4, 3) of `4.3.1`."""
    numbers = []
    for part in version.split(".")[:2]:
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)
