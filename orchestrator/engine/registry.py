"""Pushing of images to a registry and pulling from one, by the engine and with the credentials of its configuration."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import docker
import requests
from docker.errors import DockerException

from orchestrator.engine import images
from orchestrator.engine.client import is_lost
from orchestrator.engine.pulled_bytes import Fetched
from orchestrator.engine.registry_errors import RegistryError, credentials_error, host_of, registry_error

_CREDENTIALS = "Credentials store error"
_DIGEST = re.compile(r": digest: (sha256:[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Pushed:
    """An image in a registry."""

    digest: str
    """Of its manifest, `sha256:…`."""
    layers_sent: int | None
    """Layers that the registry lacked. None if the engine does not tell, as Podman's does not."""


def push(client: docker.DockerClient, reference: str, *, stopped: Callable[[], bool]) -> Pushed | None:
    """Push an image under its full name, and return None if `stopped` on the way.

    The engine asks the registry for every layer, and sends those that it lacks. Raises `RegistryError`.
    """
    repository, tag = reference.rsplit(":", 1)
    layers: dict[str, bool] = {}
    digest = ""
    with _as_registry_errors(reference):
        messages: Any = client.api.push(repository, tag=tag, stream=True, decode=True)
        with closing(messages):
            for message in messages:
                if stopped():
                    return None
                if "error" in message:
                    raise _refusal(str(message["error"]), reference)
                status = str(message.get("status") or "")
                if "id" in message:
                    layers[str(message["id"])] = status == "Pushed"
                told = _DIGEST.search(status)
                digest = str((message.get("aux") or {}).get("Digest") or (told[1] if told else digest))
    if not digest:
        raise RegistryError(f"registry {host_of(reference)}: the engine ended the push of {reference} without a digest")
    return Pushed(digest, sum(layers.values()) if layers else None)


def pull(client: docker.DockerClient, reference: str, *, stopped: Callable[[], bool], fetched: Fetched) -> bool:
    """Pull an image by its full name, and return False if `stopped` on the way. Raises `RegistryError`."""
    with _as_registry_errors(reference):
        try:
            images.pull(client, reference, stopped=stopped, fetched=fetched)
        except images.BuildError as error:
            if stopped():
                return False
            raise _refusal(str(error), reference) from None
    return True


@contextmanager
def _as_registry_errors(reference: str) -> Iterator[None]:
    """Raise `RegistryError` for what the engine or a credential helper refuses. The loss of the engine stays."""
    try:
        yield
    except (DockerException, requests.exceptions.RequestException) as error:
        if is_lost(error):
            raise
        raise _refusal(str(getattr(error, "explanation", None) or error), reference) from None


def _refusal(said: str, reference: str) -> RegistryError:
    host = host_of(reference)
    return credentials_error(host) if said.startswith(_CREDENTIALS) else registry_error(said, host)
