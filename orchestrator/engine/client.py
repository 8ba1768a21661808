"""A connection to the engine that answers, or one clear error."""

import socket
from collections.abc import Mapping

import docker
from docker.errors import DockerException

from orchestrator.errors import HostError

Client = docker.DockerClient


def connect(environment: Mapping[str, str], *, timeout_s: float = 60.0) -> Client:
    """Connect to the engine that `DOCKER_HOST` and its companions name, the local one by default.

    Raises `HostError` where none answers.
    """
    place = environment.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    try:
        _knock(place)
        client = docker.from_env(environment=dict(environment), timeout=int(timeout_s), version="auto")
        client.ping()
    except PermissionError as error:
        raise HostError(
            f"this user may not use the container engine at {place}: {_first_line(error)}; "
            "join the group docker and log in again, or use a rootless engine or --runtime venv"
        ) from error
    except (DockerException, OSError) as error:
        raise HostError(
            f"no container engine answers at {place}: {_first_line(error)}; start Docker, or use --runtime venv"
        ) from error
    return client


def _knock(place: str) -> None:
    """Try a local socket first: the SDK leaves its own open where nobody answers."""
    if place.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(place.removeprefix("unix://"))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
