"""The limits of a container that an image cannot lift, on system calls, volumes and the health check."""

import hashlib
import json
import posixpath
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import DockerException
from docker.types import LogConfig, Mount

from orchestrator.engine.abilities import Abilities, EngineKind
from orchestrator.processes import StartError
from orchestrator.resources import IMAGES

NO_HEALTH_CHECK = {"test": ["NONE"]}
"""Overrides the one of the image, which would run inside what is measured."""
TMP = "/tmp"  # noqa: S108 - the container's own
SHM = "/dev/shm"  # noqa: S108 - the container's own
WRITABLE_IN_PODMAN = ("/run", "/var/tmp")  # noqa: S108 - the container's own
"""Folders that Podman makes writable under a root that is not, besides `TMP` and `SHM`."""
_CLOSED_BYTES = 16 << 20
"""Room for what an image has there, which the engine copies."""
KERNEL = ("/dev", "/proc", "/sys")
"""Folders that the engine fills with files of the kernel."""


@dataclass(frozen=True, slots=True)
class SeccompProfile:
    """The system calls that a container may make."""

    name: str
    """With the SHA-256 of the file."""
    option: str
    """As the engine takes it: JSON on one line, or for Podman the path of the file."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one container."""

    memory_bytes: int | None = None
    """Without swap on top; None for no bound."""
    pids: int = 4096
    shm_bytes: int = 1 << 30
    tmp_bytes: int = 2 << 30
    seccomp: SeccompProfile | None = None
    """None where the engine cannot filter system calls."""
    has_selinux: bool = False
    """True if the engine labels its containers, which then read no folder of the host without a label of theirs."""
    takes_commas: bool = True
    """False if the engine would take a comma in the path of a folder for the end of the path."""
    closed: tuple[str, ...] = ()
    """Folders that the engine would make writable in memory without a bound, which are made read-only instead."""
    cgroup_parent: str = ""
    """The control group that the container's own is made in; empty for the engine's."""


@cache
def shipped_profile(kind: EngineKind = EngineKind.DOCKER) -> SeccompProfile:
    """Read the profile that ships with the program, for a kind of engine."""
    file = IMAGES / "seccomp.json"
    content = file.read_bytes()
    name = f"framework-bench@sha256:{hashlib.sha256(content).hexdigest()}"
    if kind is EngineKind.PODMAN:  # which opens what it is given as a file
        return SeccompProfile(name, str(file.resolve()))
    return SeccompProfile(name, json.dumps(json.loads(content), separators=(",", ":")))


def cgroup_parent(client: docker.DockerClient, cgroup: str) -> str:
    """Return the control group to make containers in, or an empty text if the engine cannot make them there.

    An engine that leaves its groups to systemd takes the name of a slice, which the group of a job is not.
    """
    return cgroup if client.info().get("CgroupDriver") == "cgroupfs" else ""


def limits_on(abilities: Abilities, limits: Limits = Limits()) -> Limits:
    """Return limits with what an engine of such abilities has to be told."""
    profile = shipped_profile(abilities.kind) if abilities.has_seccomp else None
    limits = replace(limits, seccomp=profile, has_selinux=abilities.has_selinux)
    return (
        replace(limits, closed=WRITABLE_IN_PODMAN, takes_commas=False)
        if abilities.kind is EngineKind.PODMAN
        else limits
    )


def source(folder: Path, limits: Limits) -> str:
    """Return the path by which to mount a folder of the host. Raises `StartError` for one that would be misread."""
    path = str(folder.resolve())
    if "," in path and not limits.takes_commas:
        raise StartError(f"Podman mounts no folder with a comma in its path: {path}; give it another name")
    return path


def host_options(limits: Limits, *, network: str = "none") -> dict[str, Any]:
    """Return the options for `create_host_config` that every container has, without its mounts and devices."""
    seccomp, memory_bytes = limits.seccomp, limits.memory_bytes
    options: dict[str, Any] = {
        "network_mode": network,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", *([f"seccomp={seccomp.option}"] if seccomp else [])],
        "init": False,
        "read_only": True,
        # Not `shm_size`: the engine drops that mount where the image declares a volume at its place.
        "tmpfs": {
            TMP: f"rw,exec,nosuid,nodev,size={limits.tmp_bytes},mode=1777",
            SHM: f"rw,noexec,nosuid,nodev,size={limits.shm_bytes},mode=1777",
            **dict.fromkeys(limits.closed, f"ro,noexec,nosuid,nodev,size={_CLOSED_BYTES}"),
        },
        "pids_limit": limits.pids,
        # The engine would keep every word on its disk, without a bound.
        "log_config": LogConfig(type="none"),
        "ipc_mode": "private",
    }
    if network == "none":
        # Otherwise the engine copies the name servers and domains of the host into the container.
        options |= {"dns": ["127.0.0.1"], "dns_search": ["."]}
    if limits.cgroup_parent:
        options |= {"cgroup_parent": limits.cgroup_parent}
    if memory_bytes is not None:
        options |= {"mem_limit": memory_bytes, "memswap_limit": memory_bytes}
    return options


@contextmanager
def covered_volumes(
    client: docker.DockerClient, image: str, own: Collection[str], labels: Mapping[str, str]
) -> Iterator[list[Mount]]:
    """Provide read-only mounts for the volumes an image declares, with their content, and remove them at the end.

    The engine would mount a writable one without a bound at each. `own` are mount points of ours besides the tmpfs of
    `host_options`. Raises `StartError` for a volume that cannot be covered.
    """
    document = client.api.inspect_image(image)  # type: ignore[no-untyped-call]  # the library has no types here
    declared = sorted((document.get("Config") or {}).get("Volumes") or ())
    # By name, because the engine mounts none without a name read-only.
    mounts = [
        Mount(place, f"bench-{secrets.token_hex(16)}", type="volume", read_only=True, labels=dict(labels))
        for place in uncovered(declared, {TMP, SHM, *own})
    ]
    try:
        yield mounts
    finally:
        for mount in mounts:
            remove_volume(client, str(mount["Source"]))


def uncovered(declared: Sequence[str], own: Collection[str]) -> list[str]:
    """List the declared volumes at which nothing of ours is mounted.

    Raises `StartError` for a path that is not plain, for one inside a mount point of ours, and for a folder of the
    kernel or one inside it.
    """
    places = []
    for path in declared:
        plain = path.rstrip("/")
        if not plain.startswith("/") or plain.startswith("//") or posixpath.normpath(plain) != plain:
            raise StartError(f"the image declares a volume {path!r}, which is no plain path; remove it from the image")
        if any(plain.startswith(f"{place}/") for place in own):
            raise StartError(f"the image declares a volume {path!r} in a mounted folder; remove it from the image")
        if plain in own:
            continue
        if any(f"{plain}/".startswith(f"{place}/") for place in KERNEL):
            raise StartError(
                f"the image declares a volume {path!r} in a folder of the kernel; remove it from the image"
            )
        places.append(plain)
    return places


def remove_volume(client: docker.DockerClient, name: str) -> None:
    """Remove a volume, if it still exists.

    A volume that cannot be removed is left to the next run.
    """
    with suppress(DockerException, requests.exceptions.RequestException):
        client.api.remove_volume(name, force=True)


def labelled_volumes(client: docker.DockerClient, label: str) -> list[tuple[str, str]]:
    """List the volumes that carry a label, each with its name and the label's value."""
    volumes = client.api.volumes(filters={"label": label}).get("Volumes") or ()
    return [(str(each["Name"]), str((each.get("Labels") or {}).get(label, ""))) for each in volumes]


def refuse_writable(document: Mapping[str, Any], expected: Collection[str]) -> None:
    """Look through the mounts of a container that was made, as the engine describes it.

    Raises `StartError` where it could write to one that is not expected.
    """
    mounts = document.get("Mounts") or ()
    writable = [str(each["Destination"]) for each in mounts if each.get("RW") and each["Destination"] not in expected]
    if writable:
        raise StartError(f"the container could write to {', '.join(writable)}; remove these volumes from the image")
