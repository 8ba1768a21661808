"""Images out of the engine into blobs: each layer once, and the engine gathers the next while one is compressed."""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import BinaryIO

import docker

from orchestrator.bundles import oci
from orchestrator.bundles.archive import ArchiveError, read_archive
from orchestrator.bundles.blobs import Blobs
from orchestrator.bundles.manifest import Image
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError, OrchestratorError
from orchestrator.processes import TICK_S, Stop

AT_ONCE = 2
"""Saves that the engine is asked for at a time."""
GROUP_BYTES = 8 << 30
"""About how much one of many saves gathers: the engine keeps it on its own disk until it is read."""
STOPPED = "stopped; the same command goes on where this one ended"


class StoppedError(OrchestratorError):
    """The person asked to stop; what is done is kept, and the same command goes on with it."""

    exit_code = 130


@dataclass(frozen=True, slots=True)
class Wanted:
    """One image that belongs in the bundle, and is on the engine."""

    name: str
    """As the plan calls it."""
    reference: str
    tags: tuple[str, ...]
    """With the reference among them."""


def save_images(
    client: docker.DockerClient, wanted: Sequence[Wanted], blobs: Blobs, stop: Stop, said: Callable[[str], None]
) -> tuple[Image, ...]:
    """Bring every image into `blobs` and describe it, in the order of `wanted`.

    Raises `HostError` where the engine does not give one, `StoppedError` when asked to stop.
    """
    configs = {one.reference: _known_config(client, one, blobs) for one in wanted}
    groups = _groups(client, [one for one in wanted if not configs[one.reference]])
    asked = [_Ahead(client, group) for group in groups[:AT_ONCE]]
    for number, group in enumerate(groups):
        said(f"saving {', '.join(one.name for one in group)}")
        with asked[number] as ahead:
            stream = ahead.stream(stop)
            # Only now: no more saves at once than the engine has room for.
            asked += [_Ahead(client, following) for following in groups[number + AT_ONCE : number + AT_ONCE + 1]]
            configs |= _taken(group, Stoppable(stream, stop), blobs)
    return tuple(_described(one, configs[one.reference], blobs) for one in wanted)


def _taken(group: Sequence[Wanted], stream: "Stoppable", blobs: Blobs) -> dict[str, str]:
    """Read one save into `blobs`, and return the digest of each image's configuration by its reference."""
    try:
        saved = read_archive(stream, blobs)  # type: ignore[arg-type]  # of a stream, reading is all that is needed
        named = {tag: image.config for image in saved for tag in image.tags}
        return {one.reference: blobs.add(named[one.reference]) for one in group}
    except KeyError as error:
        raise HostError(f"the engine did not save {error}; was it removed meanwhile?") from error
    except (ArchiveError, *transfer.STREAM_ERRORS) as error:
        raise HostError(f"the engine did not save {group[0].reference}: {error}") from error


def _known_config(client: docker.DockerClient, one: Wanted, blobs: Blobs) -> str:
    """The digest of an image's configuration where it and all layers are known already; else empty."""
    facts = engine.facts(client, one.reference)
    if facts is None:
        raise HostError(f"{one.reference} is not on the engine any more; run the command again")
    known = blobs.has_config(facts.image_id, facts.layers) and all(layer in blobs.layers for layer in facts.layers)
    return facts.image_id if known else ""


def _groups(client: docker.DockerClient, wanted: Sequence[Wanted]) -> list[list[Wanted]]:
    """Images to be saved at a time: those that share their largest layer together, and groups of about equal weight.

    The engine gathers a save with one processor, so that two at a time are twice as fast; each takes the layers that
    all images share once more, so that more groups than that are not.
    """
    families: dict[tuple[int, int, str], list[Wanted]] = {}
    for one in wanted:
        families.setdefault(transfer.heaviest_layer(client, one.reference), []).append(one)
    total = sum(size for size, _, _ in families)
    groups: list[list[Wanted]] = [[] for _ in range(min(len(families), max(AT_ONCE, total // GROUP_BYTES)))]
    weights = [0] * len(groups)
    for (size, _, _), family in sorted(families.items(), reverse=True):
        lightest = weights.index(min(weights))
        groups[lightest] += family
        weights[lightest] += size
    return groups


def _described(one: Wanted, config: str, blobs: Blobs) -> Image:
    diff_ids, config_bytes = blobs.config(config)
    layers = tuple(blobs.layers[diff_id] for diff_id in diff_ids)
    manifest = blobs.add(oci.image_manifest(config, config_bytes, layers))
    return Image(name=one.name, reference=one.reference, tags=one.tags, config=config, manifest=manifest, layers=layers)


class _Ahead:
    """A save that the engine is asked for before anybody has time to read it."""

    def __init__(self, client: docker.DockerClient, group: Sequence[Wanted]) -> None:
        self._answer: SimpleQueue[BinaryIO | TransferError] = SimpleQueue()
        self._closing = ExitStack()
        self._name = group[0].reference
        references = [one.reference for one in group]
        threading.Thread(target=self._ask, args=(client, references), daemon=True).start()

    def _ask(self, client: docker.DockerClient, references: Sequence[str]) -> None:
        try:
            self._answer.put(self._closing.enter_context(transfer.saved(client, references)))
        except TransferError as error:
            self._answer.put(error)

    def stream(self, stop: Stop) -> BinaryIO:
        """Wait for the engine's answer; raises as `save_images` does."""
        while True:
            if stop.is_set():
                raise StoppedError(STOPPED)
            try:
                answer = self._answer.get(timeout=TICK_S)
            except Empty:
                continue
            if isinstance(answer, TransferError):
                raise HostError(f"the engine did not save {self._name}: {answer}") from answer
            return answer

    def __enter__(self) -> "_Ahead":
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()


class Stoppable:
    """A stream that ends in `StoppedError` when asked to stop."""

    def __init__(self, stream: BinaryIO, stop: Stop) -> None:
        self._stream = stream
        self._stop = stop

    def read(self, size: int) -> bytes:
        """Read as the stream does."""
        if self._stop.is_set():
            raise StoppedError(STOPPED)
        return self._stream.read(size)
