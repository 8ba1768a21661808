"""Images carried from one engine to another: small ones, made from nothing, with what they share and what not."""

import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import docker
import docker_images
import pytest
from far_support import FarSide

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.describe.package_files import package_files
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import open_base
from orchestrator.bundles.format.manifest import Image, Manifest
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import open_bundle, verify
from orchestrator.bundles.write import export as exporting
from orchestrator.bundles.write.request import Export
from orchestrator.bundles.write.tar import write_tar
from orchestrator.domain import Environment, Framework, ImageSpec, Plan
from orchestrator.engine.images import remove, tag
from orchestrator.errors import InputError
from orchestrator.events import ignore
from orchestrator.images import Built, labels
from orchestrator.runtimes.environments import Workshop
from tests.until import until

pytestmark = pytest.mark.docker

LABEL = "bench.test-carry"
REPOSITORY = "bench-test-carry/bench/image"
RELEASES = ("1", "2", "3")
CONTENT = "0123456789ab"
BASE_BYTES, OWN_BYTES = 3_000_000, 2_000_000


@pytest.fixture(scope="module")
def built(engine: docker.DockerClient) -> Iterator[dict[str, Built]]:
    """Three images on one base, each with a layer of its own that is smaller."""
    noise = random.Random(1)
    tag(
        engine,
        docker_images.built(engine, "FROM scratch\nCOPY base /base\n", LABEL, {"base": noise.randbytes(BASE_BYTES)}),
        f"{REPOSITORY}:base",
    )
    found = {}
    for release in RELEASES:
        text = f'FROM {REPOSITORY}:base\nCOPY own /own\nCMD ["/own"]\nLABEL {labels.KIND}={labels.IMAGE}\n'
        identity = docker_images.built(engine, text, LABEL, {"own": noise.randbytes(OWN_BYTES)})
        name = f"{REPOSITORY}:{release}-cpu"
        for each in (name, f"{name}-{CONTENT}"):
            tag(engine, identity, each)
        found[name] = Built(name, identity, f"{name}-{CONTENT}")
    yield found
    for name in (f"{REPOSITORY}:base", *found, *(one.reference for one in found.values())):
        remove(engine, name)


def _exported(
    client: docker.DockerClient,
    built: dict[str, Built],
    folder: Path,
    releases: tuple[str, ...],
    since: Path | None = None,
) -> Manifest:
    specs = [
        ImageSpec(REPOSITORY, f"{release}-cpu", "cpu", Framework("noop", release), Environment("noop", "3.11"))
        for release in releases
    ]
    wanted = Export(
        name=folder.name, folder=folder, plan=Plan("carry", 1, tuple(specs), ()), matrix="version: 1\n", own_models=(),
        built={spec.name: built[spec.name] for spec in specs}, settings=BuildSettings(), client=client, listener=ignore,
        stop=threading.Event(), workshop=Workshop(folder.parent / "cache", BuildSettings(), os.environ),
        package_files=package_files, base=open_base(since) if since else None,
    )  # fmt: skip
    return exporting.write(wanted, ())


class Loading:
    """Loads bundles on the far engine, and counts what is read of them."""

    def __init__(self, client: docker.DockerClient) -> None:
        self.client = client
        self.read_bytes = 0
        self.stop = threading.Event()
        self.stop_after_bytes: int | None = None

    def _read(self, size: int) -> None:
        self.read_bytes += size
        if self.stop_after_bytes is not None and self.read_bytes >= self.stop_after_bytes:
            self.stop.set()

    def __call__(self, path: Path) -> list[Image]:
        self.read_bytes = 0
        self.stop.clear()
        to = Receiver(self.client, self._read, lambda line: None, self.stop)
        return load_images(open_bundle(open_source(path)), path, to)

    def names(self) -> dict[str, str]:
        return {name: str(image.id) for image in self.client.images.list() for name in image.tags}


@pytest.fixture
def load(empty_far_of_module: FarSide) -> Iterator[Loading]:
    """A far engine without images."""
    client = empty_far_of_module.client()
    yield Loading(client)
    for image in client.images.list(all=True):
        client.api.remove_image(image.id, force=True)
    client.close()


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_images_arrive_unchanged_and_load_only_once(
    engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path, load: Loading
) -> None:
    """Images arrive as they were, and a second load reads nothing."""
    manifest = _exported(engine, built, tmp_path / "two", RELEASES[:2])
    verify(open_bundle(open_source(tmp_path / "two")), lambda size: None)

    missing = load(tmp_path / "two")

    assert [image.name for image in missing] == [f"{REPOSITORY}:1-cpu", f"{REPOSITORY}:2-cpu"]
    here = {name: one.image_id for name, one in built.items() if name in {image.name for image in manifest.images}}
    assert load.names() == {name + end: identity for name, identity in here.items() for end in ("", f"-{CONTENT}")}
    assert load.read_bytes == sum(layer.size_bytes for layer in manifest.layers.values())
    assert load(tmp_path / "two") == []
    assert load.read_bytes == 0


def test_engine_takes_images_without_layers_it_has(
    engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path, load: Loading
) -> None:
    """An engine of this age takes an image without the layers that it already has."""
    first = _exported(engine, built, tmp_path / "first", RELEASES[:1])
    whole = _exported(engine, built, tmp_path / "whole", RELEASES)
    load(write_tar(tmp_path / "first", tmp_path / "first.tar"))

    assert len(load(write_tar(tmp_path / "whole", tmp_path / "whole.tar"))) == 2
    assert load.read_bytes == sum(one.size_bytes for key, one in whole.layers.items() if key not in first.layers)


def test_two_exports_are_byte_identical(engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path) -> None:
    for place in ("here", "there"):
        _exported(engine, built, tmp_path / place / "bundle", RELEASES)

    assert _bytes(tmp_path / "here" / "bundle") == _bytes(tmp_path / "there" / "bundle")


def test_bad_bundle_leaves_nothing_in_the_engine(
    engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path, load: Loading
) -> None:
    manifest = _exported(engine, built, tmp_path / "bundle", RELEASES[:2])
    blob = tmp_path / "bundle" / layout.blob_path(manifest.images[1].layers[-1].digest)
    data = bytearray(blob.read_bytes())
    data[-20] ^= 1
    blob.write_bytes(bytes(data))

    with pytest.raises(InputError, match=r"images/blobs/sha256/\w+ .*; the bundle is damaged or was changed"):
        load(tmp_path / "bundle")

    assert load.client.images.list(all=True) == []


def test_stopped_load_goes_on_with_the_rest(
    engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path, load: Loading
) -> None:
    """A load that was stopped goes on with what is missing."""
    manifest = _exported(engine, built, tmp_path / "bundle", RELEASES)
    total = sum(layer.size_bytes for layer in manifest.layers.values())
    load.stop_after_bytes = total - 10

    with pytest.raises(TransferStoppedError):
        load(tmp_path / "bundle")
    # What has arrived by then can be found by its name; the engine of a busy host may still be busy with the last one.
    until(lambda: all(image.tags for image in load.client.images.list()))

    load.stop_after_bytes = None
    load(tmp_path / "bundle")
    assert len(load.names()) == 6


def test_delta_holds_only_what_is_new(
    engine: docker.DockerClient, built: dict[str, Built], tmp_path: Path, load: Loading
) -> None:
    """A delta is as large as what is new and needs what it builds on."""
    first = _exported(engine, built, tmp_path / "home" / "winter", RELEASES[:2])
    delta = _exported(engine, built, tmp_path / "far" / "spring", RELEASES, since=tmp_path / "home" / "winter")
    new = sum(layer.size_bytes for key, layer in delta.layers.items() if key not in first.layers)
    blobs = sum(file.size_bytes for file in delta.files if file.path.startswith(layout.BLOBS))

    assert new <= blobs <= 1.01 * new
    with pytest.raises(InputError, match="builds on layers of the bundle winter"):
        load(tmp_path / "far" / "spring")
    assert load.client.images.list(all=True) == []
    load(tmp_path / "home" / "winter")
    assert [image.name for image in load(tmp_path / "far" / "spring")] == [f"{REPOSITORY}:3-cpu"]
    assert load.read_bytes == new
