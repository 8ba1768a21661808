"""A connection to the engine that answers, or one clear error."""

from collections.abc import Mapping

import docker
from docker.errors import DockerException

from orchestrator.errors import HostError

Client = docker.DockerClient


def connect(environment: Mapping[str, str], *, timeout_s: float = 60.0) -> Client:
    """Connect to the engine that `DOCKER_HOST` and its companions name, the local one by default.

    Raises `HostError` where none answers.
    """
    try:
        client = docker.from_env(environment=dict(environment), timeout=int(timeout_s), version="auto")
        client.ping()
    except DockerException as error:
        place = environment.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        raise HostError(
            f"no container engine answers at {place}: {_first_line(error)}; start Docker, or use --runtime venv"
        ) from error
    return client


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
