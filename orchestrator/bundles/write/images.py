"""The images of a bundle, saved from the engine as an OCI layout of compressed layers.

Each layer is read once, and the engine prepares the next save while the current one is compressed.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, Self

import docker
from pydantic import BaseModel, ValidationError

from orchestrator import processes
from orchestrator.bundles.format import layout, oci
from orchestrator.bundles.format.engine_archive import ArchiveError, read_archive
from orchestrator.bundles.format.manifest import Image
from orchestrator.bundles.format.streams import STOPPED, Meter, StoppableStream, TransferStoppedError
from orchestrator.bundles.write import output_folder
from orchestrator.bundles.write.blobs import Blobs
from orchestrator.bundles.write.request import Export
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError
from orchestrator.images import Built
from orchestrator.processes import Stop
from orchestrator.results.files.writing import write_atomically

_MOST_PATHS = 10_000

AT_ONCE = 2
"""Saves that are requested at a time."""
GROUP_BYTES = 8 << 30
"""Approximate size of one of many saves, which the engine keeps on its own disk until it is read."""


@dataclass(frozen=True, slots=True)
class ImageToSave:
    """One image on the engine that belongs in the bundle."""

    name: str
    """Name in the plan."""
    reference: str
    tags: tuple[str, ...]
    """All tags, including the reference."""


def write_images(export: Export) -> tuple[Image, ...]:
    """Write the layout with every image of the plan. Raises as `_save_images` does."""
    blobs = _open_blobs(export)
    to_save = [_image_to_save(spec.name, export.built[spec.name]) for spec in export.plan.images]
    configs = _save_images(export.client, to_save, blobs, export.stop, export.say)
    images = tuple(_manifest_entry(image, configs[image.reference], blobs) for image in to_save)
    _add_layer_paths(_layer_paths_file(export), blobs.paths)
    blobs.remove_others(layer for image in images for layer in image.layers)
    _write(export.folder / layout.OCI_LAYOUT, oci.LAYOUT)
    sizes = [blobs.written[image.manifest] for image in images]
    _write(export.folder / layout.OCI_INDEX, oci.index(images, sizes))
    output_folder.write_state(export.folder, blobs.own, blobs.paths, only_images=False)
    return images


def _open_blobs(export: Export) -> Blobs:
    base_layers = export.base.manifest.layers if export.base else {}
    progress = Meter(export.listener, "packed", None)
    blobs = Blobs(export.folder, base_layers, progress, _read_layer_paths(_layer_paths_file(export)))
    for config in export.base.configs() if export.base else ():
        blobs.offer(config)
    return blobs


def _layer_paths_file(export: Export) -> Path:
    return export.workshop.cache / "layer-paths.json"


def _image_to_save(name: str, built: Built) -> ImageToSave:
    alias = built.reference.rpartition("-")[0]
    return ImageToSave(name, built.reference, tuple(dict.fromkeys((alias, built.reference))))


def _manifest_entry(image: ImageToSave, config: str, blobs: Blobs) -> Image:
    diff_ids, config_bytes = blobs.config(config)
    layers = tuple(blobs.layers[diff_id] for diff_id in diff_ids)
    manifest = blobs.add(oci.image_manifest(config, config_bytes, layers))
    return Image(
        name=image.name, reference=image.reference, tags=image.tags, config=config, manifest=manifest, layers=layers
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


class _LayerPaths(BaseModel):
    """The diff ids of layers by their paths in the engine's archives, which follow from the content of the layers.

    With them a layer that is in the base of a delta is not read again.
    """

    paths: dict[str, str] = {}


def _read_layer_paths(file: Path) -> dict[str, str]:
    """Return the diff ids of earlier exports."""
    try:
        return _LayerPaths.model_validate_json(file.read_bytes()).paths
    except (OSError, ValidationError):
        return {}


def _add_layer_paths(file: Path, diff_ids: Mapping[str, str]) -> None:
    """Store the diff ids of an export."""
    file.parent.mkdir(parents=True, exist_ok=True)
    latest = dict(list({**_read_layer_paths(file), **diff_ids}.items())[-_MOST_PATHS:])
    write_atomically(file, _LayerPaths(paths=latest).model_dump_json() + "\n")


def _save_images(
    client: docker.DockerClient, images: Sequence[ImageToSave], blobs: Blobs, stop: Stop, say: Callable[[str], None]
) -> dict[str, str]:
    """Save images into `blobs`, and return the digests of their configurations by reference.

    Raises `HostError` if the engine does not save one, and `TransferStoppedError` after a request to stop.
    """
    configs = {image.reference: _known_config(client, image, blobs) for image in images}
    groups = _groups(client, [image for image in images if not configs[image.reference]])
    requested = [_RequestedSave(client, group) for group in groups[:AT_ONCE]]
    for number, group in enumerate(groups):
        say(f"saving {', '.join(image.name for image in group)}")
        with requested[number] as save:
            stream = save.stream(stop)
            # Requested only now, because the engine has room for no more at a time.
            requested += [_RequestedSave(client, later) for later in groups[number + AT_ONCE : number + AT_ONCE + 1]]
            configs |= _read_save(group, StoppableStream(stream, stop), blobs)
    return configs


def _read_save(group: Sequence[ImageToSave], stream: StoppableStream, blobs: Blobs) -> dict[str, str]:
    """Read one save into `blobs`, and return the digest of each image's configuration by its reference."""
    try:
        archived = read_archive(stream, blobs)  # type: ignore[arg-type]  # only read() is needed
        configs = {tag: image.config for image in archived for tag in engine.plain(image.tags)}
        return {image.reference: blobs.add(configs[engine.plain([image.reference])[0]]) for image in group}
    except KeyError as error:
        raise HostError(f"the engine did not save {error}; was it removed meanwhile?") from error
    except (ArchiveError, *transfer.STREAM_ERRORS) as error:
        raise HostError(f"the engine did not save {group[0].reference}: {error}") from error


def _known_config(client: docker.DockerClient, image: ImageToSave, blobs: Blobs) -> str:
    """Return the digest of an image's configuration if it and all layers are known, else an empty text."""
    facts = engine.facts(client, image.reference)
    if facts is None:
        raise HostError(f"{image.reference} is not on the engine any more; run the command again")
    known = blobs.has_config(facts.image_id, facts.layers) and all(layer in blobs.layers for layer in facts.layers)
    return facts.image_id if known else ""


def _groups(client: docker.DockerClient, images: Sequence[ImageToSave]) -> list[list[ImageToSave]]:
    """Return groups of images to save together, of about equal weight.

    Images with the same largest layer share a group. The engine prepares a save with one processor, so that two at a
    time are twice as fast. More groups are not faster, because each repeats the layers that all images share.
    """
    families: dict[tuple[int, int, str], list[ImageToSave]] = {}
    for image in images:
        families.setdefault(transfer.heaviest_layer(client, image.reference), []).append(image)
    total = sum(size for size, _, _ in families)
    groups: list[list[ImageToSave]] = [[] for _ in range(min(len(families), max(AT_ONCE, total // GROUP_BYTES)))]
    weights = [0] * len(groups)
    for (size, _, _), family in sorted(families.items(), reverse=True):
        lightest = weights.index(min(weights))
        groups[lightest] += family
        weights[lightest] += size
    return groups


class _RequestedSave:
    """A save that the engine prepares before it is read."""

    def __init__(self, client: docker.DockerClient, group: Sequence[ImageToSave]) -> None:
        self._answer: SimpleQueue[BinaryIO | TransferError] = SimpleQueue()
        self._closing = ExitStack()
        self._name = group[0].reference
        references = [image.reference for image in group]
        threading.Thread(target=self._request, args=(client, references), daemon=True).start()

    def _request(self, client: docker.DockerClient, references: Sequence[str]) -> None:
        try:
            self._answer.put(self._closing.enter_context(transfer.saved(client, references)))
        except TransferError as error:
            self._answer.put(error)

    def stream(self, stop: Stop) -> BinaryIO:
        """Wait for the engine's stream. Raises as `_save_images` does."""
        while True:
            if stop.is_set():
                raise TransferStoppedError(STOPPED)
            try:
                answer = self._answer.get(timeout=processes.TICK_S)
            except Empty:
                continue
            if isinstance(answer, TransferError):
                raise HostError(f"the engine did not save {self._name}: {answer}") from answer
            return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._closing.close()
