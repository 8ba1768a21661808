"""Damaged or forged bundles end in one clear error, and nothing is loaded or written."""

import io
import json
import shutil
import tarfile
import time
from pathlib import Path

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.manifest import read_manifest
from orchestrator.errors import InputError
from tests.unit.bundles.bundle_fake_engine import FakeEngine
from tests.unit.bundles.read.bundle_harms import HARMS
from tests.unit.bundles.small_bundles import an_engine, content, exported, loaded, verified


@pytest.mark.parametrize("name", HARMS)
def test_a_bad_bundle_gives_one_clear_error(tmp_path: Path, name: str) -> None:
    """A bad bundle is one clear error, and nothing of it is loaded."""
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
def test_a_tar_with_foreign_entries_is_refused(tmp_path: Path, entry: tarfile.TarInfo, said: str) -> None:
    """A tar with an entry that no bundle holds is refused."""
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
def test_a_foreign_file_is_reported_as_no_bundle(tmp_path: Path, content: bytes) -> None:
    """The error for a file that is no bundle says that it is none."""
    path = tmp_path / "bundle.tar"
    path.write_bytes(content)

    with pytest.raises(InputError, match=r"bundle\.tar: (no tar of a bundle|cut short|no bundle)"):
        verified(path)


def test_a_missing_bundle_is_reported_as_missing(tmp_path: Path) -> None:
    """The error for a name with no bundle behind it says that there is no such bundle."""
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


def test_reading_a_manifest_takes_no_quadratic_time(tmp_path: Path) -> None:
    """The time that a manifest takes does not grow with the square of its layers."""
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
