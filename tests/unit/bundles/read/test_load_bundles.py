"""A load sends missing layers, leaves nothing of a damaged bundle, and finds the base of a delta."""

import hashlib
import json
from pathlib import Path

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.write.tar import write_tar
from orchestrator.errors import HostError, InputError
from tests.unit.bundles.bundle_fake_engine import FakeEngine, layer
from tests.unit.bundles.small_bundles import an_engine, exported, loaded

NAMES = {
    "bench/small:1-cpu",
    "bench/small:1-cpu-0123456789ab",
    "bench/small:2-cpu",
    "bench/small:2-cpu-0123456789ab",
}


@pytest.mark.parametrize("form", ["folder", "tar", "tar of its content"])
def test_every_image_arrives_with_names_and_bytes(tmp_path: Path, form: str) -> None:
    home, far = an_engine("1", "2"), FakeEngine()
    exported(home, tmp_path / "bundle", ["1", "2"])
    path = tmp_path / "bundle"
    if form == "tar":
        path = write_tar(path, tmp_path / "bundle.tar")
    elif form == "tar of its content":
        import subprocess

        subprocess.run(["tar", "cf", tmp_path / "b.tar", "."], cwd=path, check=True)
        path = tmp_path / "b.tar"

    missing = loaded(far, path)

    assert [image.name for image in missing] == ["bench/small:1-cpu", "bench/small:2-cpu"]
    assert far.configs == home.configs
    assert far.layers == home.layers
    assert set(far.names) == NAMES


def test_a_layer_is_sent_once_if_missing(tmp_path: Path) -> None:
    """A layer is sent once, and only to an engine that lacks it."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    far = FakeEngine()
    loaded(far, tmp_path / "bundle")
    known = an_engine("1")
    loaded(known, tmp_path / "bundle")

    layers = [[name for name in archive if name.endswith("layer.tar")] for archive in far.received]
    assert [len(names) for names in layers] == [2, 1]
    assert [sum(name.endswith("layer.tar") for name in archive) for archive in known.received] == [1]


def test_a_second_load_only_restores_lost_names(tmp_path: Path) -> None:
    """A second load sends nothing and gives lost names back."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    far = FakeEngine()
    loaded(far, tmp_path / "bundle")
    far.received.clear()
    del far.names["bench/small:2-cpu"]

    assert loaded(far, tmp_path / "bundle") == []
    assert (far.received, set(far.names)) == ([], NAMES)


def test_a_name_moves_to_the_newer_content(tmp_path: Path) -> None:
    """A name that belongs to an older content goes to the newer one."""
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    far = FakeEngine()
    older = far.add("bench/small:1-cpu", [layer({"older": b""})])

    loaded(far, tmp_path / "bundle")

    assert far.names["bench/small:1-cpu"] != older


def test_the_name_of_a_foreign_image_stays(tmp_path: Path) -> None:
    """The name of an image that is none of ours is not taken from it."""
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    far = FakeEngine()
    theirs = far.add("bench/small:1-cpu", [layer({"theirs": b""})], config={"Labels": {}})

    with pytest.raises(HostError, match="bench/small:1-cpu is the name of an image that is none of ours"):
        loaded(far, tmp_path / "bundle")

    assert (far.names, far.received) == ({"bench/small:1-cpu": theirs}, [])


def test_a_bad_later_image_removes_earlier_ones(tmp_path: Path) -> None:
    """Images that were loaded before a bad one are removed again."""
    manifest = exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    blob = tmp_path / "bundle" / layout.blob_path(manifest.images[1].layers[1].digest)
    blob.write_bytes(bytes(byte ^ 1 for byte in blob.read_bytes()))
    far = FakeEngine()

    with pytest.raises(InputError, match=r"cannot be unpacked|another digest"):
        loaded(far, tmp_path / "bundle")

    assert (far.configs, far.names) == ({}, {})


def test_what_was_there_before_a_bad_bundle_stays(tmp_path: Path) -> None:
    manifest = exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    (tmp_path / "bundle" / layout.blob_path(manifest.images[1].layers[1].digest)).write_bytes(b"")
    far = an_engine("1")
    before = dict(far.configs)

    with pytest.raises(InputError):
        loaded(far, tmp_path / "bundle")

    assert far.configs == before


def test_an_engine_that_lost_layers_gets_all(tmp_path: Path) -> None:
    """An engine that loses a layer during a load gets all of them at the next load."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])

    class Forgetful(FakeEngine):
        """Removes what it has, as a prune at the same time does, once it has been asked for it."""

        def post(self, *arguments: object, **more: object) -> object:
            if not self.received:
                self.configs.clear()
                self.names.clear()
            return super().post(*arguments, **more)  # type: ignore[arg-type]

    known = an_engine("1")
    far = Forgetful(known.configs, known.layers, known.names)
    with pytest.raises(HostError, match=r"bench/small:1-cpu has gone from the engine meanwhile; load the bundle again"):
        loaded(far, tmp_path / "bundle")
    loaded(far, tmp_path / "bundle")

    assert set(far.names) == NAMES


def test_an_interrupted_load_continues_with_missing_images(tmp_path: Path) -> None:
    """An interrupted load goes on with the images that are missing."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])

    class Failing(FakeEngine):
        works = False
        asked = 0

        def post(self, *arguments: object, **more: object) -> object:
            self.asked += 1
            if self.asked > 1 and not self.works:
                raise ConnectionError("gone")
            return super().post(*arguments, **more)  # type: ignore[arg-type]

    far = Failing()
    with pytest.raises(HostError, match="the engine did not take bench/small:2-cpu: gone"):
        loaded(far, tmp_path / "bundle")
    assert len(far.configs) == 1
    assert set(far.names) == {"bench/small:1-cpu-0123456789ab"}, "what is there has a name, by which `clean` finds it"

    far.works = True
    assert [image.name for image in loaded(far, tmp_path / "bundle")] == ["bench/small:2-cpu"]
    assert set(far.names) == NAMES


def test_a_delta_stands_on_what_was_loaded_before(tmp_path: Path) -> None:
    home, far = an_engine("1", "2"), FakeEngine()
    exported(home, tmp_path / "home" / "first", ["1"])
    exported(home, tmp_path / "carried" / "delta", ["1", "2"], since=tmp_path / "home" / "first")
    loaded(far, tmp_path / "home" / "first")

    assert [image.name for image in loaded(far, tmp_path / "carried" / "delta")] == ["bench/small:2-cpu"]
    assert far.layers == home.layers


@pytest.mark.parametrize("form", ["folder", "tar"])
def test_a_delta_finds_its_base_next_to_it(tmp_path: Path, form: str) -> None:
    """A delta finds the bundle that it builds on next to it, as a folder or as a tar."""
    home, far = an_engine("1", "2", "3"), FakeEngine()
    exported(home, tmp_path / "first", ["1"], name="first")
    exported(home, tmp_path / "second", ["1", "2"], since=tmp_path / "first", name="second")
    exported(home, tmp_path / "third", ["1", "2", "3"], since=tmp_path / "second", name="third")
    if form == "tar":
        import shutil

        for name in ("first", "second"):
            write_tar(tmp_path / name, tmp_path / f"{name}.tar")
            shutil.rmtree(tmp_path / name)

    assert len(loaded(far, tmp_path / "third")) == 3
    assert far.layers == home.layers


def test_a_delta_without_its_base_names_it(tmp_path: Path) -> None:
    """The error for a delta without the bundle that it builds on names that bundle."""
    home, far = an_engine("1", "2"), FakeEngine()
    exported(home, tmp_path / "home" / "first", ["1"], name="winter")
    exported(home, tmp_path / "carried" / "delta", ["1", "2"], since=tmp_path / "home" / "first")

    with pytest.raises(
        InputError, match=r"builds on layers of the bundle winter \(its manifest\.json has the SHA-256 "
    ):
        loaded(far, tmp_path / "carried" / "delta")

    assert (far.configs, far.received) == ({}, [])


def test_other_files_next_to_a_delta_are_ignored(tmp_path: Path) -> None:
    """Not even whether there is a file in it can be asked of every folder: of `lost+found` it is denied."""
    home, far = an_engine("1", "2"), FakeEngine()
    exported(home, tmp_path / "first", ["1"])
    exported(home, tmp_path / "second", ["1", "2"], since=tmp_path / "first")
    (tmp_path / "another.tar").write_bytes(b"no tar")
    (tmp_path / "folder.tar").mkdir()
    (tmp_path / "a link").symlink_to("x" * 300)

    assert len(loaded(far, tmp_path / "second")) == 2


def test_the_base_of_a_delta_is_verified_too(tmp_path: Path) -> None:
    """The bundle next to a delta, which it builds on, is verified as well."""
    home, far = an_engine("1", "2"), FakeEngine()
    first = exported(home, tmp_path / "first", ["1"], name="first")
    exported(home, tmp_path / "delta", ["1", "2"], since=tmp_path / "first")
    blob = tmp_path / "first" / layout.blob_path(first.images[0].layers[0].digest)
    blob.write_bytes(blob.read_bytes()[:-1])

    with pytest.raises(InputError, match="first: images/blobs/sha256/"):
        loaded(far, tmp_path / "delta")

    assert (far.configs, far.names) == ({}, {})


def test_an_archives_manifest_waits_for_verified_layers(tmp_path: Path) -> None:
    """An engine must not be able to take an image before its last byte was checked."""
    manifest = exported(an_engine("1"), tmp_path / "bundle", ["1"])
    document = json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    last = manifest.images[0].layers[1]
    for entry in document["images"][0]["layers"]:
        if entry["diff_id"] == last.diff_id:
            entry["diff_id"] = "sha256:" + hashlib.sha256(b"another").hexdigest()
    given: list[bytes] = []

    class Recording(FakeEngine):
        def post(self, url: str, data: object, **more: object) -> object:
            def watched() -> object:
                for piece in data:  # type: ignore[attr-defined]
                    given.append(piece)
                    yield piece

            return super().post(url, watched(), **more)  # type: ignore[arg-type]

    blob = tmp_path / "bundle" / layout.blob_path(last.digest)
    blob.write_bytes(blob.read_bytes()[:-1] + bytes([blob.read_bytes()[-1] ^ 1]))
    with pytest.raises(InputError):
        loaded(Recording(), tmp_path / "bundle")

    assert given
    assert not any(b"manifest.json" in piece for piece in given)
