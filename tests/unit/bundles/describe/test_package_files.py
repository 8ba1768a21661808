import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from benchmarks import package_files as inside
from orchestrator.bundles.describe.package_files import UNREAD, stored_texts
from tests.unit.bundles.describe.rpm_headers import database, header

SITE = "opt/environment/lib/python3.11/site-packages"


def listed(root: Path, files: dict[str, bytes]) -> dict[str, str]:
    """Return what an image with these files lists."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with redirect_stdout(io.StringIO()) as answer:
        inside.main(str(root))
    return stored_texts(answer.getvalue())


def test_package_files_are_listed_and_no_others(tmp_path: Path) -> None:
    files = {
        "var/lib/dpkg/status": b"Package: a\n",
        "var/lib/dpkg/status.d/base": b"Package: b\n",
        "usr/bin/large": b"x" * 100_000,
        f"{SITE}/thing-1.0.dist-info/METADATA": b"Name: thing\n",
        f"{SITE}/thing-1.0.dist-info/RECORD": b"",
        f"{SITE}/old.egg-info": b"Name: old\n",
        f"{SITE}/setuptools/_vendor/other-1.0.dist-info/METADATA": b"Name: other\n",
        "usr/lib/os-release": "NAME=Größe\n".encode(),
        "home/anyone/site-packages/mine-1.0.dist-info/METADATA": b"Name: mine\n",
        "proc/1/root/etc/os-release": b"of the kernel",
    }

    assert listed(tmp_path, files) == {
        f"{SITE}/old.egg-info": "Name: old\n\n",
        f"{SITE}/thing-1.0.dist-info/METADATA": "Name: thing\n\n",
        "home/anyone/site-packages/mine-1.0.dist-info/METADATA": "Name: mine\n\n",
        "usr/lib/os-release": "NAME=Größe\n",
        "var/lib/dpkg/status": "Package: a\n",
        "var/lib/dpkg/status.d/base": "Package: b\n",
    }


def test_the_description_of_a_distribution_is_left_out(tmp_path: Path) -> None:
    path = f"{SITE}/thing-1.0.dist-info/METADATA"

    text = listed(tmp_path, {path: b"Name: thing\r\nVersion: 1.0\r\n\r\nVersion: 2.0\r\n"})[path]

    assert text == "Name: thing\nVersion: 1.0\n"


def test_a_link_is_no_package_file(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").symlink_to("../usr/lib/os-release")

    assert listed(tmp_path, {"usr/lib/os-release": b"NAME=x\n"}) == {"usr/lib/os-release": "NAME=x\n"}


def test_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    path = tmp_path / SITE / os.fsdecode(b"odd-\xff.dist-info") / "METADATA"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"Name: odd\n")

    assert listed(tmp_path, {}) == {f"{SITE}/odd-\N{REPLACEMENT CHARACTER}.dist-info/METADATA": "Name: odd\n\n"}


@pytest.mark.parametrize("folder", ["var/lib/rpm", "usr/lib/sysimage/rpm"])
def test_an_rpm_database_gives_its_packages(tmp_path: Path, folder: str) -> None:
    package = {"name": "bash", "version": "5.1"}
    path = f"{folder}/rpmdb.sqlite"

    files = listed(tmp_path, {path: database([header(package)]), f"{path}-wal": b"", f"{path}-shm": b"x"})

    assert json.loads(files[path]) == [package]
    assert files[f"{path}-wal"] == ""


@pytest.mark.parametrize(
    "path",
    [
        "var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages.db", "var/lib/rpm/rpmdb.sqlite",
        "usr/lib/sysimage/rpm/rpmdb.sqlite-wal", "opt/conda/conda-meta/history", "opt/conda/envs/x/conda-meta/history",
    ],
)  # fmt: skip
def test_an_unknown_database_is_marked_unread(tmp_path: Path, path: str) -> None:
    assert listed(tmp_path, {path: b"some bytes"}) == {path: UNREAD}


def test_a_database_beyond_the_limit_is_unread(tmp_path: Path) -> None:
    path = tmp_path / "var/lib/dpkg/status"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(inside.MAX_FILE_BYTES + 1)

    assert listed(tmp_path, {}) == {"var/lib/dpkg/status": UNREAD}
