"""An export writes each layer once, equal bytes every time, and no incomplete bundle."""

import hashlib
import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.bundles.write import export as exporting
from orchestrator.bundles.write import images
from orchestrator.bundles.write.blobs import Blobs
from orchestrator.bundles.write.tar import write_tar
from orchestrator.errors import HostError, InputError
from orchestrator.user_files import ModelDefinition, ModelFile
from tests.unit.bundles.bundle_fake_engine import FakeEngine, docker_archive, layer, oci_archive
from tests.unit.bundles.small_bundles import BASE, an_engine, an_export, content, exported, verified


def test_a_shared_layer_is_stored_only_once(tmp_path: Path) -> None:
    """A layer that images share is there once, and the engine gives each image once."""
    engine = an_engine("1", "2")
    manifest = exported(engine, tmp_path / "bundle", ["1", "2"])

    blobs = [file for file in manifest.files if file.path.startswith(layout.BLOBS)]
    assert len(manifest.layers) == 3
    assert len(blobs) == 3 + 2 + 2  # layers, configurations, manifests
    assert sum(len(names) for names in engine.saves) == 2
    verified(tmp_path / "bundle")


def test_images_with_one_largest_layer_are_saved_together(tmp_path: Path) -> None:
    """Images that share their largest layer are saved together."""
    engine = FakeEngine()
    for release in ("1", "2"):
        engine.add(f"bench/small:{release}-cpu-0123456789ab", [BASE, layer({"x": release.encode()})])

    exported(engine, tmp_path / "bundle", ["1", "2"])

    assert engine.saves == [["bench/small:1-cpu-0123456789ab", "bench/small:2-cpu-0123456789ab"]]


def test_sha256sum_agrees_with_the_sums(tmp_path: Path) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])

    said = subprocess.run(
        ["sha256sum", "-c", "--strict", "SHA256SUMS"],
        cwd=tmp_path / "bundle",
        capture_output=True,
        text=True,
        check=False,
    )

    assert said.returncode == 0, said.stderr
    assert "manifest.json: OK" in said.stdout
    assert said.stdout.count(": OK") == len(content(tmp_path / "bundle")) - 1


def test_own_models_carry_their_framework_definitions(tmp_path: Path) -> None:
    """Own models are carried with the definitions of frameworks."""
    own = ModelFile("wide", "x = 1\n", "ab" * 32, (ModelDefinition("wide", "torch", "y = 1\n", "cd" * 32),))

    exported(an_engine("1"), tmp_path / "bundle", ["1"], own_models=(own,))

    kept = content(tmp_path / "bundle" / layout.MODELS)
    assert kept == {"wide.py": b"x = 1\n", "wide/torch.py": b"y = 1\n"}
    verified(tmp_path / "bundle")


def test_documentation_is_carried_and_listed(tmp_path: Path) -> None:
    """The pages are carried with their checksums, without what only a web server needs."""
    site = tmp_path / "site"
    (site / "search").mkdir(parents=True)
    for name in ("index.html", "search/search_index.js", "search/search_index.json", "bundle.js.map"):
        (site / name).write_text(name)

    manifest = exported(an_engine("1"), tmp_path / "bundle", ["1"], documentation=site)

    kept = content(tmp_path / "bundle" / layout.DOCUMENTATION)
    assert kept == {name: name.encode() for name in ("index.html", "search/search_index.js")}
    assert {f"{layout.DOCUMENTATION}/{name}" for name in kept} <= {file.path for file in manifest.files}
    verified(tmp_path / "bundle")


def test_the_layout_is_one_that_the_specification_describes(tmp_path: Path) -> None:
    manifest = exported(an_engine("1"), tmp_path / "bundle", ["1"])
    images = tmp_path / "bundle" / "images"
    index = json.loads((images / "index.json").read_text())

    assert json.loads((images / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    names = {entry["annotations"]["org.opencontainers.image.ref.name"] for entry in index["manifests"]}
    assert names == {"bench/small:1-cpu", "bench/small:1-cpu-0123456789ab"}
    for entry in index["manifests"]:
        document = (images / "blobs" / "sha256" / entry["digest"].removeprefix("sha256:")).read_bytes()
        assert (len(document), "sha256:" + hashlib.sha256(document).hexdigest()) == (entry["size"], entry["digest"])
        image = json.loads(document)
        assert image["config"]["digest"] == manifest.images[0].config
        assert {one["mediaType"] for one in image["layers"]} == {"application/vnd.oci.image.layer.v1.tar+zstd"}


def test_two_equal_exports_are_byte_identical(tmp_path: Path) -> None:
    """Two exports of the same are byte-identical, as folders and as tars."""
    tars = []
    for number, order in enumerate((["1", "2"], ["2", "1"])):
        engine = FakeEngine()
        for release in order:
            engine.configs |= (other := an_engine(release)).configs
            engine.layers |= other.layers
            engine.names |= other.names
        folder = tmp_path / str(number) / "bundle"
        exported(engine, folder, ["1", "2"])
        tars.append(write_tar(folder, folder.with_suffix(".tar")))

    assert content(tmp_path / "0" / "bundle") == content(tmp_path / "1" / "bundle")
    assert tars[0].read_bytes() == tars[1].read_bytes()
    verified(tars[0])


@pytest.mark.parametrize(
    "archive", [oci_archive, lambda engine, names: oci_archive(engine, names, packed=False)], ids=["gzip", "plain"]
)
def test_engines_saving_oci_layouts_give_the_same_layers(tmp_path: Path, archive: object) -> None:
    old, new = an_engine("1", "2"), an_engine("1", "2")
    new.archive = archive  # type: ignore[assignment]

    expected = exported(old, tmp_path / "old", ["1", "2"])
    found = exported(new, tmp_path / "new", ["1", "2"])

    assert found.images == expected.images


def test_an_interrupted_export_resumes_where_it_stopped(tmp_path: Path) -> None:
    """An interrupted export is no bundle, and goes on where it stopped."""
    engine = an_engine("1", "2")
    whole = exported(engine, tmp_path / "whole", ["1", "2"])
    first = "bench/small:1-cpu-0123456789ab"
    half = len(docker_archive(engine, [first])) // 2

    def breaking(engine: FakeEngine, references: Sequence[str]) -> bytes:
        whole = docker_archive(engine, references)
        return whole[:half] if first in references else whole

    engine = an_engine("1", "2")
    engine.archive = breaking
    with pytest.raises(HostError, match=f"the engine did not save {first}: it broke off"):
        exported(engine, tmp_path / "bundle", ["1", "2"])

    assert not (tmp_path / "bundle" / "manifest.json").exists()
    with pytest.raises(InputError, match="its export was interrupted; run the same `orchestrator export` again"):
        open_source(tmp_path / "bundle")
    engine = an_engine("1", "2")
    again = exported(engine, tmp_path / "bundle", ["1", "2"])
    assert engine.saves == [[first]]
    assert again == whole
    assert content(tmp_path / "bundle") == content(tmp_path / "whole")


def test_an_export_without_its_signature_is_no_bundle(tmp_path: Path) -> None:
    """An export that cannot be signed in the end is no bundle."""

    def refused(_: bytes) -> bytes:
        assert not (tmp_path / "bundle" / layout.MANIFEST).exists()
        raise InputError("the agent is gone")

    with pytest.raises(InputError, match="the agent is gone"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"], sign=refused)

    assert not (tmp_path / "bundle" / layout.MANIFEST).exists()
    with pytest.raises(InputError, match="its export was interrupted"):
        open_source(tmp_path / "bundle")


def test_the_signature_covers_the_manifest(tmp_path: Path) -> None:
    """The signature is over the manifest, and is there before the bundle is whole."""
    manifest = exported(an_engine("1"), tmp_path / "bundle", ["1"], sign=lambda content: content[::-1])

    assert (tmp_path / "bundle" / layout.SIGNATURE).read_bytes() == manifest.encoded()[::-1]


def test_a_zeroed_blob_is_made_again(tmp_path: Path) -> None:
    """A blob that a power cut took away is made again."""
    engine = an_engine("1")
    whole = exported(engine, tmp_path / "bundle", ["1"])
    blob = tmp_path / "bundle" / layout.blob_path(whole.images[0].layers[0].digest)
    blob.write_bytes(bytes(blob.stat().st_size))

    assert exported(engine, tmp_path / "bundle", ["1"]) == whole
    verified(tmp_path / "bundle")


def test_earlier_files_no_longer_wanted_are_removed(tmp_path: Path) -> None:
    """Files that an earlier export left in the folder are removed where they are no longer wanted."""
    exported(an_engine("1", "2"), tmp_path / "bundle", ["1", "2"])
    exported(an_engine("1", "2"), tmp_path / "bundle", ["2"])
    exported(an_engine("1", "2"), tmp_path / "fresh", ["2"])

    assert content(tmp_path / "bundle") == content(tmp_path / "fresh")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(InputError, match="holds something else than a bundle; choose another -o"):
        exported(an_engine("1"), tmp_path, ["1"])

    assert content(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_manifest_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my browser extension"}')

    with pytest.raises(InputError, match=r"manifest\.json: no manifest of a bundle"):
        exported(an_engine("1"), tmp_path, ["1"])

    assert list(content(tmp_path)) == ["manifest.json"]


def test_a_lying_archive_of_an_engine_is_refused(tmp_path: Path) -> None:
    """An engine whose archive lies about a layer is not believed."""
    engine = an_engine("1")
    engine.layers = dict.fromkeys(engine.layers, BASE)

    with pytest.raises(HostError, match=r"an image says that its layer is sha256:.*; sha256:.* is there"):
        exported(engine, tmp_path / "bundle", ["1"])


def test_a_stopped_export_can_be_resumed(tmp_path: Path) -> None:
    """Stopping ends an export in a state in which it can be taken up again."""
    stop = threading.Event()
    stop.set()
    engine = an_engine("1")

    with pytest.raises(TransferStoppedError) as stopped:
        exporting.write(an_export(engine, tmp_path / "bundle", ["1"], stop=stop), ())

    assert stopped.value.exit_code == 130
    assert (tmp_path / "bundle" / layout.STATE).exists()


def test_a_delta_holds_only_new_content(tmp_path: Path) -> None:
    """A delta holds the content that the earlier bundle does not."""
    data = tmp_path / "images-of-cats"
    data.mkdir()
    (data / "cat.bin").write_bytes(b"cat" * 1000)
    engine = an_engine("1", "2")
    first = exported(engine, tmp_path / "first", ["1"], data=((data.name, data),))

    for since in (tmp_path / "first", tmp_path / "first" / "manifest.json"):
        delta = exported(engine, tmp_path / "delta", ["1", "2"], since=since, data=((data.name, data),))

        new = set(delta.layers) - set(first.layers)
        there = {file.path for file in delta.files}
        assert [layout.blob_path(delta.layers[diff_id].digest) in there for diff_id in new] == [True]
        assert not any(layout.blob_path(one.digest) in there for one in first.layers.values())
        assert [file.path for file in delta.left_out] == ["data/images-of-cats/cat.bin"]
        assert delta.base is not None
        assert delta.base.name == "small"
        verified(tmp_path / "delta")


def test_a_delta_packs_no_layer_of_its_base(tmp_path: Path) -> None:
    """Layers that the earlier bundle holds are not packed again only to be left out."""
    engine = an_engine("1", "2")
    exported(engine, tmp_path / "first", ["1"])
    whole = exported(engine, tmp_path / "whole", ["1", "2"])
    packed: list[str] = []

    class Counting(Blobs):
        def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
            packed.append(super().take(path, head, rest))
            return packed[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(images, "Blobs", Counting)
        exported(engine, tmp_path / "delta", ["1", "2"], since=tmp_path / "first")

    assert packed == [whole.images[1].layers[1].diff_id]


def test_a_delta_may_not_replace_its_base(tmp_path: Path) -> None:
    """A delta may not replace the bundle that it builds on."""
    engine = an_engine("1", "2")
    exported(engine, tmp_path / "bundle", ["1"])
    before = content(tmp_path / "bundle")

    with pytest.raises(InputError, match="is the bundle that --since names"):
        exported(engine, tmp_path / "bundle", ["1", "2"], since=tmp_path / "bundle")

    assert content(tmp_path / "bundle") == before


def test_links_in_a_dataset_are_not_followed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "passwords").symlink_to("/etc/passwd")

    with pytest.raises(InputError, match="is a link, a device or a pipe"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"], data=((data.name, data),))
