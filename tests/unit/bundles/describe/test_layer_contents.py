import io
import json
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.bundles.describe.layer_cache import LayerCache
from orchestrator.bundles.describe.layer_contents import UNREAD, LayerContents, image_files
from orchestrator.bundles.describe.layer_scan import MAX_FILE_BYTES, LayerScan
from tests.unit.bundles.describe.rpm_headers import database, header

SITE = "opt/environment/lib/python3.11/site-packages"
LONG = f"opt/{'a-folder-with-a-long-name/' * 8}site-packages/thing-1.0.dist-info/METADATA"


def layer(files: dict[str, bytes], kind: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=kind) as archive:
        for name, content in files.items():
            folder = tarfile.TarInfo(name.rpartition("/")[0] + "/")
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def scanned(data: bytes, piece_bytes: int = 4096) -> LayerContents:
    scan = LayerScan()
    for at in range(0, len(data), piece_bytes):
        scan.feed(data[at : at + piece_bytes])
    return scan.contents()


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
def test_what_tells_of_packages_is_kept_and_all_else_is_not(kind: int) -> None:
    files = {
        "var/lib/dpkg/status": b"Package: a\n",
        "usr/bin/large": b"x" * 100_000,
        f"{SITE}/thing-1.0.dist-info/METADATA": b"Name: thing\n",
        f"{SITE}/thing-1.0.dist-info/RECORD": b"",
        f"{SITE}/setuptools/_vendor/other-1.0.dist-info/METADATA": b"Name: other\n",
        LONG: b"Name: long\n",
        "usr/lib/os-release": "NAME=Größe\n".encode(),
    }

    assert scanned(layer(files, kind)).files == {
        LONG: "Name: long\n",
        f"{SITE}/thing-1.0.dist-info/METADATA": "Name: thing\n",
        "usr/lib/os-release": "NAME=Größe\n",
        "var/lib/dpkg/status": "Package: a\n",
    }


@given(st.integers(1, 3000), st.lists(st.integers(0, 3000), max_size=4))
def test_the_size_of_the_pieces_does_not_matter(piece_bytes: int, sizes: list[int]) -> None:
    others = {f"usr/file-{number}": b"x" * size for number, size in enumerate(sizes)}
    data = layer({**others, LONG: b"Name: long\n", "var/lib/dpkg/status": b"Package: a\n" * 100})

    assert scanned(data, piece_bytes) == scanned(data, len(data))
    assert len(scanned(data, piece_bytes).files) == 2


def test_a_link_in_place_of_a_file_is_no_file() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("etc/os-release")
        link.type, link.linkname = tarfile.SYMTYPE, "../usr/lib/os-release"
        archive.addfile(link)
        entry = tarfile.TarInfo("./var/lib/dpkg/status")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"text"))

    assert scanned(buffer.getvalue()).files == {"var/lib/dpkg/status": "text"}


def test_what_a_layer_removes_is_gone_and_what_it_brings_again_is_there() -> None:
    lower = LayerContents(files={"a/x": "1", "a/y": "2", "ab/z": "3", "c/d/e": "4"})
    upper = scanned(layer({"a/.wh.x": b"", "c/.wh.d": b"", "q/.wh..wh..opq": b""}))

    assert upper.removed == ("a/x", "c/d")
    assert image_files([lower, upper]) == {"a/y": "2", "ab/z": "3"}
    assert image_files([lower, upper, LayerContents(files={"a/x": "new"})])["a/x"] == "new"


def test_of_an_emptied_folder_only_what_its_own_layer_holds_is_left() -> None:
    lower = LayerContents(files={"a/x": "1", "ab/z": "3"})

    assert image_files([lower, LayerContents(files={"a/y": "2"}, emptied=("a",))]) == {"a/y": "2", "ab/z": "3"}
    assert image_files([lower, LayerContents(emptied=("",))]) == {}


@pytest.mark.parametrize("folder", ["var/lib/rpm", "usr/lib/sysimage/rpm"])
def test_of_an_rpm_database_the_packages_are_kept(folder: str) -> None:
    package = {"name": "bash", "version": "5.1"}
    path = f"{folder}/rpmdb.sqlite"

    found = scanned(layer({path: database([header(package)]), f"{path}-wal": b"", f"{path}-shm": b"x"})).files

    assert json.loads(found[path]) == [package]
    assert found[f"{path}-wal"] == ""


@pytest.mark.parametrize(
    "path",
    [
        "var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages.db", "var/lib/rpm/rpmdb.sqlite",
        "usr/lib/sysimage/rpm/rpmdb.sqlite-wal", "opt/conda/conda-meta/history", "opt/conda/envs/x/conda-meta/history",
    ],
)  # fmt: skip
def test_a_database_that_cannot_be_read_is_kept_as_such(path: str) -> None:
    assert scanned(layer({path: b"some bytes"})).files == {path: UNREAD}


def test_a_database_that_is_too_large_is_kept_as_such() -> None:
    entry = tarfile.TarInfo("var/lib/dpkg/status")
    entry.size = MAX_FILE_BYTES + 1

    assert scanned(entry.tobuf()).files == {"var/lib/dpkg/status": UNREAD}


def test_what_an_older_orchestrator_has_kept_of_a_layer_is_not_taken(tmp_path: Path) -> None:
    cache = LayerCache(tmp_path)
    (tmp_path / f"{'ab' * 32}.json").write_text('{"files": {}, "removed": [], "emptied": []}')

    assert cache.get(f"sha256:{'ab' * 32}") is None
    cache.put(f"sha256:{'ab' * 32}", LayerContents(files={"a": "b"}))
    assert cache.get(f"sha256:{'ab' * 32}") == LayerContents(files={"a": "b"})
