"""Images as streams, out of the engine and into it. Nothing is stored or unpacked here."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import docker
import requests
from docker.errors import DockerException, NotFound
from urllib3.exceptions import HTTPError

from orchestrator.engine.abilities import has_containerd_images
from orchestrator.engine.images import engine_message, one_line

STREAM_ERRORS = (HTTPError, requests.exceptions.RequestException, OSError)
"""The errors of reading from an engine that goes away meanwhile."""


class TransferError(Exception):
    """The engine did not send or accept an image. The message is the engine's, in one line."""


@contextmanager
def saved(client: docker.DockerClient, references: Sequence[str]) -> Iterator[BinaryIO]:
    """Stream images as one tar, as `docker save` does. Shared layers are in it once.

    Raises `TransferError` where the engine refuses.
    """
    api = client.api
    try:
        # The engine may gather the layers for minutes before it says a word: there is no limit to wait for.
        response = api.get(
            f"{api.base_url}/v{api.api_version}/images/get",
            params={"names": list(references)},
            stream=True,
            timeout=None,
        )
    except (DockerException, *STREAM_ERRORS) as error:
        raise TransferError(one_line(str(error))) from error
    try:
        if not response.ok:
            raise TransferError(engine_message(response))
        yield cast("BinaryIO", response.raw)
    finally:
        response.close()


def load(client: docker.DockerClient, archive: Iterable[bytes]) -> None:
    """Stream an archive of images into the engine, as `docker load` does.

    Errors that `archive` raises are passed on.

    Raises `TransferError` with what the engine said.
    """
    api = client.api
    try:
        response = api.post(
            f"{api.base_url}/v{api.api_version}/images/load",
            params={"quiet": "true"},
            data=iter(archive),
            headers={"Content-Type": "application/x-tar"},
            stream=True,
            timeout=None,
        )
    except (DockerException, *STREAM_ERRORS) as error:
        raise TransferError(one_line(str(error))) from error
    try:
        if not response.ok:
            raise TransferError(engine_message(response))
        for line in response.iter_lines():
            message = _message(line)
            if "error" in message:
                raise TransferError(one_line(str(message["error"])))
    except STREAM_ERRORS as error:
        raise TransferError(one_line(str(error))) from error
    finally:
        response.close()


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def knows_by_manifest(client: docker.DockerClient) -> bool:
    """Return true if the engine has containerd's image store.

    It knows images by their manifests, and takes OCI layouts as they are. Other engines know images by their
    configurations, and read docker-archives alone.
    """
    return has_containerd_images(client.info())


def chain_ids(layers: Sequence[str]) -> list[str]:
    """Return the identity of each layer with all below it, lowest first.

    Source: OCI image specification, ChainID.
    """
    chains: list[str] = []
    for layer in layers:
        above = f"{chains[-1]} {layer}" if chains else ""
        chains.append(f"sha256:{hashlib.sha256(above.encode()).hexdigest()}" if above else layer)
    return chains


def known_chains(client: docker.DockerClient) -> frozenset[str]:
    """Return every chain of layers on the engine, none of which has to be sent again."""
    chains: set[str] = set()
    for image in client.api.images(all=True):
        try:
            document = client.api.inspect_image(str(image["Id"]))  # type: ignore[no-untyped-call]  # no types there
        except NotFound:
            continue  # removed since it was listed
        chains.update(chain_ids((document.get("RootFS") or {}).get("Layers") or []))
    return frozenset(chains)


def heaviest_layer(client: docker.DockerClient, reference: str) -> tuple[int, int, str]:
    """Return size in bytes, time and command of an image's largest layer.

    Images that share this layer have equal values.
    """
    history = client.api.history(reference)  # type: ignore[no-untyped-call]  # the library has no types here
    steps = ((int(step["Size"]), int(step["Created"]), str(step["CreatedBy"])) for step in history)
    return max(steps, default=(0, 0, reference))
