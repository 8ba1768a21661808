"""Checks that tell a fault of the engine from a fault of what it builds."""

import errno
import os
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException

from orchestrator.engine import abilities, ownership
from orchestrator.engine.confinement import NO_HEALTH_CHECK, covered_volumes, host_options, limits_on
from orchestrator.engine.containers import remove
from orchestrator.engine.images import one_line
from orchestrator.engine.questions import LIMITS
from orchestrator.processes import StartError

_STORE_ERRORS = tuple(os.strerror(number).lower() for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO))


def is_of_the_store(message: str) -> bool:
    """Return true if a message of the engine names an error of the disk with its images."""
    return any(text in message.lower() for text in _STORE_ERRORS)


def start_fault(client: docker.DockerClient, image: str, network: str | None) -> str | None:
    """Start a container of an image as a build does, and return the engine's fault, or None.

    The image decides neither user nor folder nor command. That a command is not in it is no fault of the engine, which
    answers that with a status below 500.
    """
    try:
        limits = limits_on(abilities.read(client), LIMITS)
        with covered_volumes(client, image, limits.closed, {ownership.LABEL: str(ownership.this_process())}) as volumes:
            _start(client, image, host_options(limits, network=network or "default") | {"mounts": volumes})
    except APIError as error:
        return one_line(str(error.explanation or error)) if error.is_server_error() else None
    except (DockerException, requests.exceptions.RequestException) as error:
        return one_line(str(error))
    except StartError:
        return None  # a volume that the image may not declare
    return None


def _start(client: docker.DockerClient, image: str, options: dict[str, Any]) -> None:
    """Start a container with the options of its host, and remove it."""
    identity = ""
    try:
        made = client.api.create_container(
            image, ["true"], entrypoint=[], user="0:0", working_dir="/", use_config_proxy=False,
            labels={ownership.LABEL: str(ownership.this_process())}, healthcheck=NO_HEALTH_CHECK,
            host_config=client.api.create_host_config(**options),
        )  # fmt: skip
        identity = str(made["Id"])
        client.api.start(identity)
    finally:
        if identity:
            _removed(client, identity)


def _removed(client: docker.DockerClient, identity: str) -> None:
    try:
        remove(client, identity)
    except StartError:
        return  # it carries its owner: the next run removes it


def room_bytes(client: docker.DockerClient) -> int | None:
    """Return the room left where the engine stores images, or None if that is not on this host."""
    if not getattr(client.api.get_adapter(client.api.base_url), "socket_path", None):
        return None
    folder = Path(str(client.info().get("DockerRootDir") or ""))
    try:
        state = os.statvfs(folder) if folder.is_absolute() else None
    except OSError:
        return None
    return state.f_bavail * state.f_frsize if state else None
