"""The files to store are verified before a load, with the bundles that a delta builds on."""

import hashlib
import re
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.read.stored_files import check_stored_files, store
from orchestrator.bundles.read.verify import open_bundle
from orchestrator.bundles.write.tar import write_tar
from orchestrator.errors import InputError
from tests.unit.bundles.small_bundles import an_engine, exported, resealed

FILE = "data/pictures/train"


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """A bundle `first` with a dataset, and a delta `second` of the same name which leaves it out."""
    data = tmp_path / "pictures"
    data.mkdir()
    (data / "train").write_bytes(b"pictures" * 1000)
    stick, home = tmp_path / "stick", an_engine("1", "2")
    exported(home, stick / "first", ["1"], data=(("pictures", data),))
    second = exported(home, stick / "second", ["1", "2"], since=stick / "first", data=(("pictures", data),))
    assert [file.path for file in second.left_out] == [FILE]
    return stick


def kept(place: Path, bundles: Path) -> LoadedBundle:
    bundle = open_bundle(open_source(place))
    return store(
        bundles,
        bundle,
        check_stored_files(bundle, place, bundles, Event()),
        lambda image: image.config,
        "2026-01-02T03:04:05Z",
    )


@pytest.mark.parametrize("form", ["folder", "tar"])
def test_an_omitted_dataset_comes_from_the_neighbouring_bundle(stick: Path, tmp_path: Path, form: str) -> None:
    """A dataset that a delta leaves out comes from the bundle next to it."""
    if form == "tar":
        write_tar(stick / "first", stick / "first.tar")
        shutil.rmtree(stick / "first")

    found = kept(stick / "second", tmp_path / "bundles")

    assert (found.folder / FILE).read_bytes() == b"pictures" * 1000


def test_an_omitted_dataset_comes_from_the_loaded_bundle(stick: Path, tmp_path: Path) -> None:
    """A dataset that a delta leaves out comes from the bundle that was loaded before."""
    kept(stick / "first", tmp_path / "bundles")
    shutil.rmtree(stick / "first")

    found = kept(stick / "second", tmp_path / "bundles")

    assert (found.folder / FILE).read_bytes() == b"pictures" * 1000


@pytest.mark.parametrize("rotten", [True, False])
def test_a_missing_base_is_named_before_loading(stick: Path, tmp_path: Path, rotten: bool) -> None:
    """Without the bundle that has its dataset, a delta names it by its sum before anything is loaded."""
    first = open_bundle(open_source(stick / "first"))
    if rotten:
        (kept(stick / "first", tmp_path / "bundles").folder / FILE).write_bytes(b"rotten")
    shutil.rmtree(stick / "first")
    second = open_bundle(open_source(stick / "second"))

    said = re.escape(f"{FILE} is in the bundle small (its manifest.json has the SHA-256 {first.manifest_sha256[:12]}…)")
    with pytest.raises(InputError, match=f"{said}.* or put it into {re.escape(str(stick))}$"):
        check_stored_files(second, stick / "second", tmp_path / "bundles", Event())


def test_a_dataset_next_to_a_delta_is_verified(stick: Path, tmp_path: Path) -> None:
    """A dataset of the bundle next to a delta is verified as well."""
    (stick / "first" / FILE).write_bytes(b"pictureS" * 1000)
    second = open_bundle(open_source(stick / "second"))

    with pytest.raises(InputError, match=f"first: {FILE} has another digest than the manifest says"):
        check_stored_files(second, stick / "second", tmp_path / "bundles", Event())


def test_the_nearer_of_two_bundles_is_taken(tmp_path: Path) -> None:
    """Of two bundles next to a delta, a dataset comes from the nearer one in the chain."""
    home, data = an_engine("1"), tmp_path / "pictures"
    data.mkdir()
    for name, since in (("first", None), ("second", "first"), ("third", "second")):
        (data / "train").write_bytes(b"first" if name == "first" else b"later")
        exported(
            home, tmp_path / name, ["1"], tmp_path / since if since else None, data=(("pictures", data),), name=name
        )

    found = kept(tmp_path / "third", tmp_path / "bundles")

    assert (found.folder / FILE).read_bytes() == b"later"


@pytest.mark.parametrize("path", [layout.MATRIX, layout.PLAN])
def test_an_oversized_document_is_not_read(tmp_path: Path, path: str) -> None:
    """A document that would fill the memory is not read."""
    exported(an_engine("1"), tmp_path / "small", ["1"])
    with (tmp_path / "small" / path).open("ab") as file:
        file.write(b" " * layout.MAX_DOCUMENT_BYTES[path])
    content = (tmp_path / "small" / path).read_bytes()

    def change(document: dict[str, Any]) -> None:
        (entry,) = (one for one in document["files"] if one["path"] == path)
        entry |= {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    resealed(tmp_path / "small", change)

    with pytest.raises(InputError, match=f"small: {path} is larger than it may be"):
        kept(tmp_path / "small", tmp_path / "bundles")


def test_an_unreadable_bundle_is_never_written(tmp_path: Path) -> None:
    """No bundle is written that would not be read."""
    with pytest.raises(InputError, match=r"matrix\.yaml of the bundle would have 524,289 bytes, and at most 524,288 "):
        exported(an_engine("1"), tmp_path / "small", ["1"], matrix="#" * (512 * 1024 + 1))
