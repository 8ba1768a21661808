"""A connection to the engine that answers, or one clear error."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import docker
import requests
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


def is_lost(error: Exception) -> bool:
    """Whether an engine that answered before went away; what it refuses, or takes too long for, is no such thing."""
    if isinstance(error, DockerException) or not isinstance(error, requests.exceptions.RequestException):
        return False
    return "timed out" not in str(error)


def answers_anew(client: Client) -> bool:
    """Whether the engine takes a new connection; one that is being stopped only serves those it has to their end."""
    client.api.close()  # the connections that wait for their next use
    try:
        return bool(client.ping())
    except (DockerException, requests.exceptions.RequestException, OSError):
        return False


def lost(doing: str, error: Exception) -> HostError:
    """Tell of an engine that went away: nothing failed, and what is done already stays."""
    return HostError(
        f"the engine was lost while {doing}: {_first_line(error)}; start it again, and go on with --resume"
    )


@contextmanager
def needed_for(doing: str) -> Iterator[None]:
    """Raise `HostError` where the engine goes away under what is done inside."""
    try:
        yield
    except requests.exceptions.RequestException as error:
        if is_lost(error):
            raise lost(doing, error) from error
        raise


def _knock(place: str) -> None:
    """Try a local socket first: the SDK leaves its own open where nobody answers."""
    if place.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(place.removeprefix("unix://"))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
