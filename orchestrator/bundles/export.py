"""Write a bundle: images, then every other part, and the manifest last, without which there is no bundle."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import docker

from orchestrator import __version__
from orchestrator.brought import ModelFile, Script
from orchestrator.bundles import layout, oci, unfinished
from orchestrator.bundles.blobs import Blobs
from orchestrator.bundles.earlier import Earlier
from orchestrator.bundles.layer_contents import LayerShelf
from orchestrator.bundles.manifest import File, Image, Manifest
from orchestrator.bundles.progress import Meter
from orchestrator.bundles.saving import STOPPED, StoppedError, Wanted, save_images
from orchestrator.bundles.sources import FolderSource
from orchestrator.domain import BuildSettings, Plan
from orchestrator.errors import HostError, InputError, remedy
from orchestrator.events import Listener, Notice
from orchestrator.images import Built
from orchestrator.processes import Stop
from orchestrator.results.store import write_atomically
from orchestrator.runtimes.environments import Workshop

MAY_BE_LEFT_OUT = (f"{layout.WHEELS}/", f"{layout.DATA}/", f"{layout.SCRIPTS}/", layout.OWN_IMAGE)
"""What a delta need not carry again, beside layers."""


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be carried, and what every part of a bundle may ask for."""

    name: str
    folder: Path
    """Of the bundle; a part writes below it, and nowhere else."""
    plan: Plan
    matrix: str
    """The long form, as YAML, without credentials."""
    own_models: tuple[ModelFile, ...]
    built: Mapping[str, Built]
    """By `ImageSpec.name`."""
    settings: BuildSettings
    client: docker.DockerClient
    listener: Listener
    stop: Stop
    workshop: Workshop
    """How wheels are fetched, and where what can be made again is kept."""
    earlier: Earlier | None = None
    data: tuple[tuple[str, Path], ...] = ()
    """Datasets by name, with the folders of their files."""
    scripts: tuple[tuple[Script, Path], ...] = ()
    """Each with the folder of its files."""
    pythons: tuple[str, ...] = ()
    """Of the far side; empty for all that there are wheels for."""
    try_wheels: bool = True
    """Whether the wheels are installed here, with no index, to prove that they are enough."""
    sign: Callable[[bytes], bytes] | None = None
    """Gives the signature over the bytes of a manifest; None where nobody signs."""
    images: tuple[Image, ...] = ()
    """As they are in the bundle; they are there before any other part is written."""


Part = Callable[[Export], None]
"""Writes files below `Export.folder`; equal inputs must give equal bytes."""


def write(export: Export, parts: Sequence[Part]) -> Manifest:
    """Write the bundle, and return its manifest.

    What an interrupted export has left is taken up; a whole bundle in the folder is replaced by what is exported now.
    Raises `InputError` where the folder holds anything else, which is left as it is, `HostError`, and `StoppedError`.
    """
    _refuse_own_data(export)
    try:
        unfinished.prepare(export.folder, export.earlier)
        blobs = _open_blobs(export)
        wanted = [_wanted(spec.name, export.built[spec.name]) for spec in export.plan.images]
        images = save_images(
            export.client, wanted, blobs, export.stop, lambda line: export.listener(Notice(line)),
        )  # fmt: skip
        layer_shelf(export).keep_paths(blobs.paths)
        blobs.remove_others(layer for image in images for layer in image.layers)
        _write(export.folder / layout.OCI_LAYOUT, oci.LAYOUT)
        sizes = [blobs.written[image.manifest] for image in images]
        _write(export.folder / layout.OCI_INDEX, oci.index(images, sizes))
        unfinished.note(export.folder, blobs.own, blobs.paths, only_images=False)
        export = replace(export, images=images)
        for part in parts:
            if export.stop.is_set():
                raise StoppedError(STOPPED)
            part(export)
        return _finish(export)
    except OSError as error:
        raise HostError(
            f"{error.filename or export.folder}: cannot be written: {error.strerror}; {remedy(error, '-o')}"
        ) from error


def _refuse_own_data(export: Export) -> None:
    """What is written anew cannot be copied from."""
    for name, place in export.data:
        if place.resolve().is_relative_to(export.folder.resolve()):
            raise InputError(f"--data {name}: {place} lies in the bundle that is written; choose another -o")


def _open_blobs(export: Export) -> Blobs:
    held = export.earlier.manifest.layers if export.earlier else {}
    shelf = layer_shelf(export)
    blobs = Blobs(export.folder, held, Meter(export.listener, "packed", None), shelf.put, shelf.paths())
    for config in export.earlier.configs() if export.earlier else ():
        blobs.offer(config)
    return blobs


def layer_shelf(export: Export) -> LayerShelf:
    """Where it is kept what the layers hold that bills of materials need."""
    return LayerShelf(export.workshop.cache / "layer-contents")


def _wanted(name: str, built: Built) -> Wanted:
    alias = built.reference.rpartition("-")[0]
    return Wanted(name, built.reference, tuple(dict.fromkeys((alias, built.reference))))


def _finish(export: Export) -> Manifest:
    """Describe what was written; only when that is done is there a bundle."""
    files, left_out = [], []
    before = export.earlier.manifest.by_path() if export.earlier else {}
    source = FolderSource(export.folder)
    for path in sorted(set(source.sizes) - {layout.STATE}):
        file = _described(source, path)
        if path.startswith(MAY_BE_LEFT_OUT) and before.get(path) == file:
            (export.folder / path).unlink()
            left_out.append(file)
        else:
            files.append(file)
    manifest = Manifest(
        name=export.name,
        orchestrator_version=__version__,
        images=export.images,
        files=tuple(files),
        base=export.earlier.base if export.earlier else None,
        left_out=tuple(left_out),
    )
    write_atomically(export.folder / layout.SUMS, manifest.sums().decode())
    if export.sign:
        # Before the manifest: without a signature that was asked for there is no bundle yet.
        write_atomically(export.folder / layout.SIGNATURE, export.sign(manifest.encoded()).decode())
    write_atomically(export.folder / layout.MANIFEST, manifest.encoded().decode())
    (export.folder / layout.STATE).unlink()
    return manifest


def _described(source: FolderSource, path: str) -> File:
    if path.startswith(f"{layout.BLOBS}/"):
        digest = path.rpartition("/")[2]  # hashed when it was written
    else:
        with source.open(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return File(path=path, size_bytes=source.sizes[path], sha256=digest)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
