"""An engine with containerd's image store gets the layout of the bundle, and knows images by manifests."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from orchestrator.bundles.format import layout
from orchestrator.engine import transfer
from orchestrator.errors import InputError
from tests.unit.bundles.bundle_fake_engine import FakeEngine, oci_archive
from tests.unit.bundles.read.bundle_fake_store import FakeStore
from tests.unit.bundles.small_bundles import an_engine, content, exported, loaded

NAMES = [f"bench/small:{release}-cpu" for release in ("1", "2")]


def blobs_of(received: dict[str, int]) -> set[str]:
    return {f"sha256:{name.rpartition('/')[2]}" for name in received if name.startswith("blobs/")}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ([["driver-type", "io.containerd.snapshotter.v1"]], True),
        ([["Backing Filesystem", "extfs"], ["Supports d_type", "true"]], False),
        (None, False),
    ],
)
def test_an_engine_tells_by_what_it_knows_images(status: Any, expected: bool) -> None:
    class Engine(FakeEngine):
        def info(self) -> dict[str, Any]:
            return {"DriverStatus": status}

    assert transfer.knows_by_manifest(Engine()) is expected  # type: ignore[arg-type]


def test_images_arrive_under_their_manifest_ids(tmp_path: Path) -> None:
    """Every image arrives with its names, under the id of its manifest."""
    manifest = exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    far = FakeStore()

    missing = loaded(far, tmp_path / "bundle")

    assert [image.name for image in missing] == NAMES
    expected = {tag: image.manifest for image in manifest.images for tag in image.tags}
    assert far.names == expected
    blobs = {layer.digest for layer in manifest.layers.values()}
    assert blobs <= set(far.blobs)


def test_a_blob_is_sent_only_once(tmp_path: Path) -> None:
    """A blob is sent once, and a second load sends nothing."""
    manifest = exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    far = FakeStore()
    loaded(far, tmp_path / "bundle")
    first, second = map(blobs_of, far.received)

    shared = manifest.images[0].layers[0].digest
    assert shared in first
    assert shared not in second
    assert loaded(far, tmp_path / "bundle") == []
    assert len(far.received) == 2


def test_a_delta_stands_on_what_was_loaded_before(tmp_path: Path) -> None:
    home, far = an_engine("1", "2"), FakeStore()
    exported(home, tmp_path / "home" / "first", ["1"])
    delta = exported(home, tmp_path / "carried" / "delta", ["2"], since=tmp_path / "home" / "first")
    loaded(far, tmp_path / "home" / "first")

    assert [image.name for image in loaded(far, tmp_path / "carried" / "delta")] == NAMES[1:]
    assert far.refused == []
    assert delta.images[0].layers[0].digest not in blobs_of(far.received[-1])


def test_a_delta_without_its_base_loads_nothing(tmp_path: Path) -> None:
    """The error for a delta without the bundle that it builds on names that bundle, and nothing is left."""
    home, far = an_engine("1", "2"), FakeStore()
    exported(home, tmp_path / "home" / "first", ["1"], name="winter")
    exported(home, tmp_path / "carried" / "delta", ["1", "2"], since=tmp_path / "home" / "first")

    with pytest.raises(InputError, match=r"builds on layers of the bundle winter \(its manifest\.json has the SHA"):
        loaded(far, tmp_path / "carried" / "delta")

    assert (far.configs, far.names) == ({}, {})
    shutil.copytree(tmp_path / "home" / "first", tmp_path / "carried" / "first")
    assert len(loaded(far, tmp_path / "carried" / "delta")) == 2


def test_of_a_bad_bundle_nothing_is_there_afterwards(tmp_path: Path) -> None:
    manifest = exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    blob = tmp_path / "bundle" / layout.blob_path(manifest.images[1].layers[1].digest)
    blob.write_bytes(bytes(byte ^ 1 for byte in blob.read_bytes()))
    far = FakeStore()

    with pytest.raises(InputError, match=r"cannot be unpacked|another digest"):
        loaded(far, tmp_path / "bundle")

    assert (far.configs, far.names) == ({}, {})


def test_a_loaded_engine_exports_the_same_folder_again(tmp_path: Path) -> None:
    """The id by which it knows an image is that of a manifest in the bundle, which is no configuration."""
    home = an_engine("1", "2")
    exported(home, tmp_path / "bundle", ["1", "2"])
    before = content(tmp_path / "bundle")
    far = FakeStore(layers=home.layers, archive=oci_archive)
    loaded(far, tmp_path / "bundle")

    exported(far, tmp_path / "bundle", ["1", "2"])

    assert content(tmp_path / "bundle") == before
