"""Ways to damage or forge a bundle, with the error that each one causes."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from orchestrator.bundles.format import layout, oci
from orchestrator.bundles.format.manifest import Layer, Manifest
from tests.unit.bundles.small_bundles import replaced_blob, resealed

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
