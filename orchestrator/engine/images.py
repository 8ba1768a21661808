"""Operations on images of the engine. Nothing here decides what to build."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, NotFound
from docker.types import CancellableStream

from orchestrator.engine.client import is_lost, lost
from orchestrator.engine.pulled_bytes import Fetched, PulledBytes, untold
from orchestrator.errors import HostError

REGISTRY_TIMEOUT_S = 15.0
_LAYER_GONE = re.compile(
    r"(?:unable to find image|no such image:?) \"?sha256:[0-9a-f]{64}|failed to get digest sha256:[0-9a-f]{64}",
    re.IGNORECASE,
)
_WITH_REGISTRY = re.compile(r"(?:localhost|[^/]*[.:][^/]*)/")
_ADDED = re.compile(r"^(?:docker\.io/library/|docker\.io/|localhost/)")


class BuildError(Exception):
    """The engine could not build. The message is the engine's."""


class StepError(BuildError):
    """A command of a build that failed, while the engine did its part."""


class LayerGoneError(BuildError):
    """A layer was removed that the engine had found in its cache for this build."""


class BrokeOffError(BuildError):
    """The engine stopped talking of a build before its end."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """One image as the engine has it."""

    image_id: str
    digest: str
    """`name@sha256:…` where a registry gave one, else the image id."""
    labels: Mapping[str, str]
    tags: tuple[str, ...]
    created: str
    """ISO 8601, UTC."""
    size_bytes: int
    layers: tuple[str, ...] = ()
    """Content ids, lowest first: an image whose layers begin with all of another's stands on that one."""


def facts(client: docker.DockerClient, reference: str) -> ImageFacts | None:
    """Return the facts about an image, or None if the engine has none of that name."""
    try:
        document = client.api.inspect_image(reference)  # type: ignore[no-untyped-call]  # the library has no types here
    except NotFound:
        return None
    image_id = str(document["Id"])
    repository = reference.rsplit(":", 1)[0] if ":" in reference.rsplit("/", 1)[-1] else reference
    digests = [str(digest) for digest in document.get("RepoDigests") or []]
    own = [digest for digest in digests if digest.split("@")[0] == repository]
    return ImageFacts(
        image_id=image_id,
        digest=(own or digests or [image_id])[0],
        labels=dict((document.get("Config") or {}).get("Labels") or {}),
        tags=plain(document.get("RepoTags") or ()),
        created=str(document.get("Created", "")),
        size_bytes=int(document.get("Size", 0)),
        layers=tuple((document.get("RootFS") or {}).get("Layers") or ()),
    )


def plain(names: Iterable[str]) -> tuple[str, ...]:
    """Return all names of an image, without the registries that Podman puts before them.

    Podman calls an image that it has built as `bench/noop:1` `docker.io/bench/noop:1`, and one that it has loaded
    `localhost/bench/noop:1`. Docker adds none, so that an image of ours has a name without a registry there.
    """
    full = tuple(names)
    if not all(_WITH_REGISTRY.match(name) for name in full):
        return full
    return tuple(_ADDED.sub("", name) for name in full)


def unavailable(client: docker.DockerClient, reference: str, *, timeout_s: float = REGISTRY_TIMEOUT_S) -> str | None:
    """Return the reason an image is neither here nor in its registry, in one line, or None.

    Asks for the manifest alone, so that a registry which is down costs `timeout_s` at most.
    """
    if facts(client, reference) is not None:
        return None
    try:
        url = f"{client.api.base_url}/v{client.api.api_version}/distribution/{reference}/json"
        response = client.api.get(url, timeout=timeout_s)
        if not response.ok and (_message(response) or "is not supported").endswith("is not supported"):
            # Podman, which does not know that place, asks a registry for a manifest at another one.
            url = f"{client.api.base_url}/v4.0.0/libpod/manifests/{reference}/json"
            response = client.api.get(url, timeout=timeout_s)
    except requests.exceptions.Timeout:
        return f"its registry did not answer within {timeout_s:g} s"
    except (requests.exceptions.RequestException, DockerException) as error:
        return one_line(str(error))
    # A refusal may be for want of the credentials that a pull sends along: let the pull decide.
    if response.ok or response.status_code in {401, 403}:
        return None
    return engine_message(response)


def pull(
    client: docker.DockerClient, reference: str, *, stopped: Callable[[], bool], fetched: Fetched = untold
) -> None:
    """Fetch an image unless it is here.

    Raises `BuildError` with the reason where it cannot be had, or when `stopped` on the way.
    """
    if facts(client, reference) is not None:
        return
    reason = unavailable(client, reference)
    if reason is not None:
        raise BuildError(reason)
    # Without a tag the engine would fetch every tag there is.
    named = reference if "@" in reference or ":" in reference.rsplit("/", 1)[-1] else f"{reference}:latest"
    bytes_ = PulledBytes(fetched)
    try:
        for message in client.api.pull(named, stream=True, decode=True):
            bytes_.hear(message)
            if stopped():
                raise BuildError("stopped")
            if "error" in message:
                raise BuildError(one_line(str(message["error"])))
    except (DockerException, requests.exceptions.RequestException) as error:
        if is_lost(error):
            raise
        raise BuildError(one_line(str(getattr(error, "explanation", None) or error))) from error


class Builds:
    """Builds in flight on one engine, so that all of them can be stopped at once from another thread."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client = client
        self._streams: set[CancellableStream[dict[str, Any]]] = set()
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Return true once `stop` was called.

        A build that ends after that ended because of it.
        """
        return self._stopped

    def stop(self) -> None:
        """Close every stream, so that the engine ends its builds. Nothing can be built afterwards."""
        self._stopped = True
        for stream in list(self._streams):
            stream.close()

    def build(
        self,
        context: Iterable[bytes],
        *,
        build_args: Mapping[str, str],
        network: str | None,
        on_line: Callable[[str], None],
    ) -> str:
        """Build the tar stream `context` (its Dockerfile at the top) and return the image's id, untagged.

        `on_line` gets every line the engine says. Raises `BuildError` with the engine's own message, and `HostError`
        where the engine went away, which says nothing of the build.
        """
        if self._stopped:
            raise BuildError("stopped")
        api = self._client.api
        parameters = {
            "rm": "true",
            "forcerm": "true",
            "buildargs": json.dumps(dict(build_args)),
            **({"networkmode": network} if network else {}),
        }
        # Through the session itself, because `images.build` gives no handle by which to stop a build.
        try:
            response = api.post(
                f"{api.base_url}/v{api.api_version}/build",
                params=parameters,
                data=iter(context),
                headers={"Content-Type": "application/x-tar"},
                stream=True,
                timeout=None,
            )
        except requests.exceptions.RequestException as error:
            raise self._ended(error) from error
        if not response.ok:
            raise BuildError(engine_message(response))
        stream = CancellableStream(_messages(response), response)
        self._streams.add(stream)
        try:
            return follow(stream, on_line)
        except (BrokeOffError, requests.exceptions.RequestException) as error:
            raise self._ended(error) from error
        finally:
            self._streams.discard(stream)
            response.close()

    def _ended(self, error: Exception) -> BuildError | HostError:
        """Return the error of a build without a verdict, which was stopped here or lost its engine."""
        return BuildError("stopped") if self._stopped else lost("building an image", error)


def _messages(response: requests.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line:
            yield json.loads(line)


def follow(messages: Iterable[dict[str, Any]], on_line: Callable[[str], None]) -> str:
    """Read what the engine says of a build to its end, and return the id of the image.

    Raises `BuildError` where it says that the build failed, and `BrokeOffError` where it breaks off: it names the image
    of every stage that it finishes, so that an id alone does not mean that the build was.
    """
    image_id, finished = "", False
    for message in messages:
        if "error" in message:
            has_code = bool((message.get("errorDetail") or {}).get("code"))
            said = str(message["error"]).strip()
            kind = LayerGoneError if _LAYER_GONE.search(said) else BuildError
            raise (StepError if has_code else kind)(said)
        for line in str(message.get("stream") or message.get("status") or "").splitlines():
            on_line(line)
            finished = finished or line.startswith("Successfully built ")
        image_id = str((message.get("aux") or {}).get("ID") or image_id)
    if not (finished and image_id):
        raise BrokeOffError("the engine broke off")
    return image_id


def tag(client: docker.DockerClient, image_id: str, reference: str) -> None:
    """Give an image a name. Another image with that name loses it."""
    repository, name = reference.rsplit(":", 1)
    client.api.tag(image_id, repository, name, force=True)


def remove(client: docker.DockerClient, reference: str) -> bool:
    """Remove a name, and the image with its last name. Return false if something still needs it."""
    try:
        client.api.remove_image(reference, force=False)
    except NotFound:
        return True
    except APIError:
        return False
    return True


def labelled(client: docker.DockerClient, label: str, *, intermediate: bool = False) -> list[ImageFacts]:
    """List every image with a label (`name` or `name=value`), newest first.

    With `intermediate`, the unnamed steps of builds are included.
    """
    listed = client.api.images(all=intermediate, filters={"label": label})
    ordered = sorted(listed, key=lambda image: int(image["Created"]), reverse=True)
    known = (facts(client, str(image["Id"])) for image in ordered)
    return [image for image in known if image is not None]


def remove_steps(client: docker.DockerClient, label: str, *, before: datetime | None = None) -> list[str]:
    """Remove the unnamed build steps with a label, children before parents. Return the ids that remain."""
    left: list[str] = []
    for image in labelled(client, label, intermediate=True):
        old_enough = before is None or datetime.fromisoformat(image.created) < before
        if not image.tags and old_enough and not remove(client, image.image_id):
            left.append(image.image_id)
    return left


def engine_message(response: requests.Response) -> str:
    """Give what the engine says in an answer that refuses, in one line."""
    return _message(response) or f"the engine answered {response.status_code}"


def _message(response: requests.Response) -> str:
    """Return the message of an answer in one line, or an empty text where it has none."""
    try:
        return one_line(str(response.json()["message"]))
    except (ValueError, KeyError):
        return ""


def one_line(text: str) -> str:
    """Give a text without its line breaks."""
    return " ".join(text.split())
