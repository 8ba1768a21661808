"""A connection to the engine that answers, or one clear error."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import docker
import requests
from docker.errors import DockerException

from orchestrator.errors import HostError

Client = docker.DockerClient
_KNOCK_S = 5.0


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
    """Return true if an error means that the engine went away.

    A refusal or a time-out of the engine does not.
    """
    if isinstance(error, DockerException) or not isinstance(error, requests.exceptions.RequestException):
        return False
    return "timed out" not in str(error)


def takes_connections(client: Client) -> bool:
    """Return true if the engine accepts a new connection.

    An engine that is being stopped only serves its open connections to their end.

    Never through the client's own pool: others build through that meanwhile.
    """
    path = getattr(client.api.get_adapter(client.api.base_url), "socket_path", None)
    place = urlsplit(client.api.base_url)
    try:
        if path:
            _knock(f"unix://{path}")
        elif place.port:
            socket.create_connection((str(place.hostname), place.port), timeout=_KNOCK_S).close()
    except OSError:
        return False
    return True


def is_local(client: Client) -> bool:
    """Return true if the engine is reached through a socket of this host."""
    return bool(getattr(client.api.get_adapter(client.api.base_url), "socket_path", None))


def lost(doing: str, error: Exception) -> HostError:
    """Build the error for an engine that went away."""
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
    """Try a local socket first.

    The SDK leaves its own socket open if nobody answers.
    """
    if place.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(place.removeprefix("unix://"))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
