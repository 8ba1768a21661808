import ast
import base64
import io
import json
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

from orchestrator.bundles.describe.package_files import MAX_LINES, UNREAD, stored_texts
from orchestrator.resources import IMAGES
from tests.unit.bundles.describe.rpm_headers import database, header

PROGRAM = IMAGES / "package_files.py"
SITE = "opt/environment/lib/python3.11/site-packages"


@pytest.fixture(scope="module")
def inside() -> ModuleType:
    """The program that runs in an image, as a module."""
    module = ModuleType("package_files")
    exec(compile(PROGRAM.read_text(), PROGRAM, "exec"), module.__dict__)
    return module


Listing = Callable[[dict[str, bytes]], dict[str, str]]


@pytest.fixture
def listed(inside: ModuleType, tmp_path: Path) -> Listing:
    """Return what an image with some files lists."""

    def of(files: dict[str, bytes]) -> dict[str, str]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with redirect_stdout(io.StringIO()) as answer:
            inside.main(str(tmp_path))
        return stored_texts(answer.getvalue().splitlines())

    return of


def test_the_program_runs_on_old_pythons() -> None:
    assert ast.parse(PROGRAM.read_text(), feature_version=(3, 6))


def test_package_files_are_listed_and_no_others(listed: Listing, tmp_path: Path) -> None:
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

    assert listed(files) == {
        f"{SITE}/old.egg-info": "Name: old\n\n",
        f"{SITE}/thing-1.0.dist-info/METADATA": "Name: thing\n\n",
        "home/anyone/site-packages/mine-1.0.dist-info/METADATA": "Name: mine\n\n",
        "usr/lib/os-release": "NAME=Größe\n",
        "var/lib/dpkg/status": "Package: a\n",
        "var/lib/dpkg/status.d/base": "Package: b\n",
    }


def test_the_description_of_a_distribution_is_left_out(listed: Listing, tmp_path: Path) -> None:
    path = f"{SITE}/thing-1.0.dist-info/METADATA"

    text = listed({path: b"Name: thing\r\nVersion: 1.0\r\n\r\nVersion: 2.0\r\n"})[path]

    assert text == "Name: thing\nVersion: 1.0\n"


def test_a_link_is_no_package_file(listed: Listing, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").symlink_to("../usr/lib/os-release")

    assert listed({"usr/lib/os-release": b"NAME=x\n"}) == {"usr/lib/os-release": "NAME=x\n"}


def test_a_name_that_is_no_text_is_listed(listed: Listing, tmp_path: Path) -> None:
    path = tmp_path / SITE / os.fsdecode(b"odd-\xff.dist-info") / "METADATA"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"Name: odd\n")

    assert listed({}) == {f"{SITE}/odd-\N{REPLACEMENT CHARACTER}.dist-info/METADATA": "Name: odd\n\n"}


@pytest.mark.parametrize("folder", ["var/lib/rpm", "usr/lib/sysimage/rpm"])
def test_an_rpm_database_gives_its_packages(listed: Listing, folder: str) -> None:
    package = {"name": "bash", "version": "5.1"}
    path = f"{folder}/rpmdb.sqlite"

    files = listed({path: database([header(package)]), f"{path}-wal": b"", f"{path}-shm": b"x"})

    assert json.loads(files[path]) == [package]
    assert files[f"{path}-wal"] == ""


@pytest.mark.parametrize(
    "path",
    [
        "var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages.db", "var/lib/rpm/rpmdb.sqlite",
        "usr/lib/sysimage/rpm/rpmdb.sqlite-wal", "opt/conda/conda-meta/history", "opt/conda/envs/x/conda-meta/history",
    ],
)  # fmt: skip
def test_an_unknown_database_is_marked_unread(listed: Listing, path: str) -> None:
    assert listed({path: b"some bytes"}) == {path: UNREAD}


def test_a_database_beyond_the_limit_is_unread(listed: Listing, inside: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "var/lib/dpkg/status"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(inside.MAX_DATABASE_BYTES + 1)

    assert listed({}) == {"var/lib/dpkg/status": UNREAD}


def test_files_beyond_the_limit_of_all_are_unread(
    listed: Listing, inside: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MAX_BYTES", 15)

    files = listed({"etc/os-release": b"NAME=x\n", "var/lib/dpkg/status": b"Package: a\n"})

    assert files == {"etc/os-release": "NAME=x\n", "var/lib/dpkg/status": UNREAD}


def test_more_files_than_the_limit_are_reported(
    listed: Listing, inside: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MAX_FILES", 1)

    files = listed({"etc/os-release": b"NAME=x\n", "var/lib/dpkg/status": b"Package: a\n"})

    assert files == {"etc/os-release": "NAME=x\n", "more than 1 files": UNREAD}


@pytest.mark.ordinary_user
def test_a_folder_that_is_closed_is_unread(listed: Listing, tmp_path: Path) -> None:
    closed = tmp_path / "home/other"
    closed.mkdir(parents=True)
    closed.chmod(0)
    try:
        files = listed({"usr/lib/os-release": b"NAME=x\n"})
    finally:
        closed.chmod(0o700)

    reads_all = os.geteuid() == 0
    assert files == {"usr/lib/os-release": "NAME=x\n"} | ({} if reads_all else {"home/other": UNREAD})


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "5", "no JSON", '["a", 5]', '[5, "eA=="]', '[["a"], "eA=="]', '["a"]', '["a", "no base64"]']
)
def test_another_answer_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        stored_texts([line])


def test_too_many_lines_are_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        stored_texts('["a", null]' for _ in range(MAX_LINES + 1))


def test_a_path_without_text_can_be_written() -> None:
    (path,) = stored_texts([json.dumps(["a\ud800", base64.b64encode(b"x").decode()])])

    assert path == "a?"
