"""Bundles that are broken or mean harm: each is one clear error, nothing is loaded, and nothing is written."""

import io
import json
import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from orchestrator.bundles.format import layout, oci
from orchestrator.bundles.format.manifest import Layer, Manifest, read_manifest
from orchestrator.errors import InputError
from tests.unit.bundles.bundle_fake_engine import FakeEngine
from tests.unit.bundles.small_bundles import an_engine, content, exported, loaded, replaced_blob, resealed, verified

Harm = Callable[[Path, Manifest], None]


def _blob(folder: Path, manifest: Manifest) -> Path:
    return folder / layout.blob_path(manifest.images[0].layers[1].digest)


def _truncate(folder: Path, manifest: Manifest) -> None:
    blob = _blob(folder, manifest)
    blob.write_bytes(blob.read_bytes()[:-5])


def _flip(folder: Path, manifest: Manifest) -> None:
    blob = _blob(folder, manifest)
    data = bytearray(blob.read_bytes())
    data[len(data) // 2] ^= 1
    blob.write_bytes(bytes(data))


def _missing(folder: Path, manifest: Manifest) -> None:
    _blob(folder, manifest).unlink()


def _undeclared_wheel(folder: Path, manifest: Manifest) -> None:
    del manifest
    (folder / layout.WHEELS).mkdir(parents=True)
    (folder / layout.WHEELS / "evil-1.0-py3-none-any.whl").write_bytes(b"PK")


def _link(folder: Path, manifest: Manifest) -> None:
    blob = _blob(folder, manifest)
    blob.unlink()
    blob.symlink_to("/etc/passwd")


def _link_to_folder(folder: Path, manifest: Manifest) -> None:
    del manifest
    (folder / "data").symlink_to("/etc")


def _pipe(folder: Path, manifest: Manifest) -> None:
    blob = _blob(folder, manifest)
    blob.unlink()
    os.mkfifo(blob)


def _future(folder: Path, manifest: Manifest) -> None:
    del manifest
    resealed(folder, lambda document: document.update(schema=2, new_field=True))


def _no_schema(folder: Path, manifest: Manifest) -> None:
    del manifest
    resealed(folder, lambda document: document.pop("schema"))


def _unknown_field(folder: Path, manifest: Manifest) -> None:
    del manifest
    resealed(folder, lambda document: document.update(run_this="rm -rf /"))


def _listed(path: str) -> Harm:
    def harm(folder: Path, manifest: Manifest) -> None:
        del manifest
        entry = {"path": path, "size_bytes": 3, "sha256": "0" * 64}
        resealed(folder, lambda document: document["files"].append(entry))

    return harm


def _no_manifest(folder: Path, manifest: Manifest) -> None:
    del manifest
    (folder / layout.MANIFEST).unlink()


def _broken_json(folder: Path, manifest: Manifest) -> None:
    del manifest
    path = folder / layout.MANIFEST
    path.write_bytes(path.read_bytes()[:-10])


def _deep_json(folder: Path, manifest: Manifest) -> None:
    del manifest
    (folder / layout.MANIFEST).write_bytes(b"[" * 100_000)


def _other_sums(folder: Path, manifest: Manifest) -> None:
    del manifest
    path = folder / layout.SUMS
    path.write_text(path.read_text().replace("0", "1", 1))


def _other_layer(content: bytes, **more: int) -> Harm:
    """A blob with another content, named everywhere by its own digest, which unpacks to something else."""

    def harm(folder: Path, manifest: Manifest) -> None:
        layer = manifest.images[0].layers[1]

        def change(document: dict[str, Any]) -> None:
            digest = replaced_blob(folder, document, layer.digest, content)
            layers = []
            for entry in document["images"][0]["layers"]:
                if entry["digest"] == layer.digest:
                    entry.update(digest=digest, size_bytes=len(content), **more)
                layers.append(Layer.model_construct(**entry))
            image = document["images"][0]
            size = (folder / layout.blob_path(image["config"])).stat().st_size
            text = oci.image_manifest(image["config"], size, layers)
            image["manifest"] = replaced_blob(folder, document, image["manifest"], text)

        resealed(folder, change)

    return harm


def _lying_config(folder: Path, manifest: Manifest) -> None:
    """A configuration with a layer that is not the one in the bundle: the image would be another."""
    image = manifest.images[0]
    config = json.loads((folder / layout.blob_path(image.config)).read_bytes())
    config["rootfs"]["diff_ids"][1] = "sha256:" + "5" * 64
    text = json.dumps(config).encode()

    def change(document: dict[str, Any]) -> None:
        digest = replaced_blob(folder, document, image.config, text)
        made = oci.image_manifest(digest, len(text), image.layers)
        document["images"][0]["config"] = digest
        document["images"][0]["manifest"] = replaced_blob(folder, document, image.manifest, made)

    resealed(folder, change)


def _lying_oci_manifest(folder: Path, manifest: Manifest) -> None:
    image = manifest.images[0]

    def change(document: dict[str, Any]) -> None:
        made = oci.image_manifest(image.config, 1, image.layers[:1])
        document["images"][0]["manifest"] = replaced_blob(folder, document, image.manifest, made)

    resealed(folder, change)


def _swapped_layers(folder: Path, manifest: Manifest) -> None:
    del manifest
    resealed(folder, lambda document: document["images"][0]["layers"].reverse())


def _tag(tag: str) -> Harm:
    def harm(folder: Path, manifest: Manifest) -> None:
        del manifest
        resealed(folder, lambda document: document["images"][0]["tags"].append(tag))

    return harm


def _named(name: str) -> Harm:
    """An image under an alias and a content tag of another name: whoever runs that name would run this image."""

    def harm(folder: Path, manifest: Manifest) -> None:
        del manifest
        names = {"name": name, "reference": f"{name}-0123456789ab", "tags": [name, f"{name}-0123456789ab"]}
        resealed(folder, lambda document: document["images"][0].update(names))

    return harm


def _claim(field: str, value: int) -> Harm:
    def harm(folder: Path, manifest: Manifest) -> None:
        del manifest
        resealed(folder, lambda document: document["images"][0]["layers"][1].update({field: value}))

    return harm


def _many_layers(folder: Path, manifest: Manifest) -> None:
    del manifest
    resealed(folder, lambda document: document["images"][0].update(layers=document["images"][0]["layers"] * 257))


BOMB = zstandard.ZstdCompressor(level=3).compress(bytes(1 << 26))
_WIDE = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=30)).compressobj()
WIDE = _WIDE.compress(bytes(1000)) + _WIDE.flush()

HARMS: dict[str, tuple[Harm, str]] = {
    "cut short": (_truncate, r"has \d+ bytes instead of \d+; the bundle is damaged or was changed: carry it again"),
    "one bit": (_flip, r"has another digest than the manifest says|cannot be unpacked|does not hold the layer"),
    "missing": (_missing, r"images/blobs/sha256/\w+ is missing"),
    "a wheel too much": (_undeclared_wheel, r"evil-1.0-py3-none-any.whl is not in the manifest"),
    "a link": (_link, r"is a link, a device or a pipe: a bundle holds plain files and folders alone"),
    "a folder by link": (_link_to_folder, r"is a link, a device or a pipe"),
    "a pipe": (_pipe, r"is a link, a device or a pipe"),
    "the future": (_future, r"schema 2 is newer than this orchestrator reads \(1\): upgrade it"),
    "no schema": (_no_schema, r"no manifest of a bundle: it names no schema"),
    "an unknown field": (_unknown_field, r"run_this: Extra inputs are not permitted"),
    "climbing": (_listed("../../etc/cron.d/evil"), r"'\.\./\.\./etc/cron\.d/evil' leads out of the bundle"),
    "absolute": (_listed("/etc/cron.d/evil"), r"'/etc/cron\.d/evil' leads out of the bundle"),
    "line break": (_listed("a\nb"), r"holds a control character or a backslash"),
    "file below a file": (_listed("plan.json/x"), r"'plan\.json' is both a file and a folder"),
    "itself": (_listed("manifest.json"), r"'manifest\.json' may not be listed"),
    "twice": (_listed("plan.json"), r"'plan\.json' is listed twice"),
    "misnamed blob": (_listed(f"{layout.BLOBS}/{'1' * 64}"), r"is not named after its content"),
    "no manifest": (_no_manifest, r"no bundle: there is no manifest\.json in it"),
    "broken JSON": (_broken_json, r"manifest\.json: not JSON"),
    "deep JSON": (_deep_json, r"manifest\.json: not JSON"),
    "other sums": (_other_sums, r"SHA256SUMS does not say what manifest\.json says"),
    "a bomb": (_other_layer(BOMB), r"unpacks to more than the \d+ bytes it should"),
    "a bomb that says so": (
        _other_layer(BOMB, uncompressed_bytes=1 << 39), r"are said to unpack to \d+: too many",
    ),
    "a wide window": (_other_layer(WIDE), r"cannot be unpacked"),
    "no zstd": (_other_layer(b"nothing of the kind"), r"cannot be unpacked"),
    "another layer": (_other_layer(zstandard.compress(bytes(61440))), r"does not hold the layer sha256:"),
    "two frames": (
        _other_layer(zstandard.compress(bytes(61440)) + zstandard.compress(b"more")), r"unpacks to more than the 61440",
    ),
    "a config that lies": (_lying_config, r"has other layers in its configuration than in the manifest"),
    "a layout that lies": (_lying_oci_manifest, r"has other blobs in the layout than in the manifest"),
    "layers in another order": (_swapped_layers, r"has other layers in its configuration than in the manifest"),
    "layers without end": (_many_layers, r"images\.0\.layers: Tuple should have at most 512 items"),
    "a tag that is an option": (_tag("--privileged:1"), r"String should match pattern"),
    "a tag of two images": (_tag("bench/small:2-cpu"), r"tag 'bench/small:2-cpu' is given twice"),
    "a tag of somebody else": (_tag("debian:12"), r"are not the names that an export gives it"),
    "the tag of another image": (_tag("bench/other:1-cpu"), r"are not the names that an export gives it"),
    "the name of a public image": (_named("library/debian:12"), r"are not the names that an export gives it"),
    "the name of the orchestrator": (_named("bench/orchestrator:0.1.0"), r"are not the names that an export gives it"),
    "that name in a registry": (_named("docker.io/bench/orchestrator:0.1.0"), r"are not the names that an export"),
    "the name of an environment": (_named("bench/environment:0123"), r"are not the names that an export gives it"),
    "a size below zero": (_claim("size_bytes", -1), r"greater than or equal to 0"),
    "a size that is none": (_claim("size_bytes", 1 << 60), r"less than or equal to"),
    "another size": (_claim("size_bytes", 17), r"has two sizes|described twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMS)
def test_a_bad_bundle_is_one_clear_error_and_nothing_of_it_is_loaded(tmp_path: Path, name: str) -> None:
    harm, said = HARMS[name]
    folder, far = tmp_path / "bundle", FakeEngine()
    manifest = exported(an_engine("1", "2"), folder, ["1", "2"])
    harm(folder, manifest)
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(InputError, match=said) as by_verify:
        verified(folder)
    with pytest.raises(InputError):
        loaded(far, folder)

    assert (far.configs, far.names, far.layers if not far.configs else {}) == ({}, {}, far.layers)
    assert sorted(tmp_path.rglob("*")) == before
    assert by_verify.value.exit_code == 2
    assert str(folder) in str(by_verify.value)
    assert len(str(by_verify.value)) < 1000


def _tar_of(folder: Path, path: Path, *more: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, data in content(folder).items():
            entry = tarfile.TarInfo(f"bundle/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for entry, data in more:
            archive.addfile(entry, io.BytesIO(data))
    return path


def _entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, target, size
    return entry


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (_entry("bundle/../../evil"), "leads out of the bundle"),
        (_entry("/evil"), "leads out of the bundle"),
        (_entry("bundle/link", tarfile.SYMTYPE, "/etc/passwd"), "is a link, a device or a special entry"),
        (_entry("bundle/hard", tarfile.LNKTYPE, "bundle/plan.json"), "is a link, a device or a special entry"),
        (_entry("bundle/device", tarfile.BLKTYPE), "is a link, a device or a special entry"),
        (_entry("bundle/pipe", tarfile.FIFOTYPE), "is a link, a device or a special entry"),
        (_entry("bundle/plan.json"), "is in it twice"),
        (_entry("bundle/evil.sh"), r"evil\.sh is not in the manifest"),
    ],
    ids=lambda value: value.name if isinstance(value, tarfile.TarInfo) else "",
)
def test_a_tar_with_what_no_bundle_holds_is_refused(tmp_path: Path, entry: tarfile.TarInfo, said: str) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    path = _tar_of(tmp_path / "bundle", tmp_path / "bundle.tar", (entry, b""))
    far = FakeEngine()

    with pytest.raises(InputError, match=said):
        loaded(far, path)

    assert (far.configs, far.received) == ({}, [])


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_tar_that_is_cut_short_is_refused(tmp_path: Path, part: float) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    path = _tar_of(tmp_path / "bundle", tmp_path / "bundle.tar")
    data = path.read_bytes().rstrip(b"\0")
    path.write_bytes(data[: int(len(data) * part)])

    with pytest.raises(InputError, match=r"cut short|no tar of a bundle"):
        verified(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x1f\x8b" + bytes(2000), bytes(10240)], ids=repr)
def test_a_file_that_is_no_bundle_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(content)

    with pytest.raises(InputError, match=r"bundle\.tar: (no tar of a bundle|cut short|no bundle)"):
        verified(path)


def test_a_name_with_no_bundle_behind_it_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such bundle"):
        verified(tmp_path / "nowhere")


def test_a_manifest_written_in_another_way_is_refused(tmp_path: Path) -> None:
    """Its digest is what a delta and a signature know a bundle by: there is one way to write it."""
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    path = tmp_path / "bundle" / layout.MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text())))

    with pytest.raises(InputError, match="is not as it was written"):
        verified(tmp_path / "bundle")


def test_a_large_manifest_is_not_read(tmp_path: Path) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    with (tmp_path / "bundle" / layout.MANIFEST).open("ab") as file:
        file.truncate(65 * 1024 * 1024)

    with pytest.raises(InputError, match=r"manifest\.json is larger than it may be"):
        verified(tmp_path / "bundle")
    shutil.rmtree(tmp_path / "bundle")


def test_the_time_that_a_manifest_takes_does_not_grow_with_the_square_of_its_layers(tmp_path: Path) -> None:
    manifest = exported(an_engine("1"), tmp_path / "bundle", ["1"])
    document = json.loads(manifest.encoded())
    (image,) = document["images"]
    made = [f"sha256:{number:064x}" for number in range(10_000)]
    layers = [image["layers"][0] | {"digest": digest, "diff_id": digest} for digest in made]
    document |= {"base": {"name": "first", "manifest_sha256": "0" * 64}, "images": []}
    for number in range(20):
        name = f"bench/small:{number}-cpu"
        own = {"name": name, "reference": f"{name}-0123456789ab", "tags": [name, f"{name}-0123456789ab"]}
        document["images"].append(image | own | {"layers": layers[500 * number :][:500]})
    text = json.dumps(document).encode()
    began = time.process_time()

    assert len(read_manifest(text, "m").layers) == 10_000

    assert time.process_time() - began < 5
