from pathlib import Path
from zipfile import ZipFile

import pytest

from orchestrator.bundles.program import own_wheel
from orchestrator.errors import HostError
from tests.unit.bundles.program import wheel_files


def test_an_installation_gives_back_its_wheels_files(tmp_path: Path) -> None:
    """An installed distribution gives the files of its wheel again."""
    files = wheel_files.files("thing")
    distribution = wheel_files.installed(tmp_path, files)

    assert own_wheel.installed(distribution) == files


def test_a_file_changed_since_its_installation_is_refused(tmp_path: Path) -> None:
    distribution = wheel_files.installed(tmp_path, wheel_files.files("thing"))
    (tmp_path / "thing.py").write_text("VALUE = 2\n")

    with pytest.raises(HostError, match=r"thing\.py: changed since it was installed"):
        own_wheel.installed(distribution)


def test_a_file_gone_since_its_installation_is_named(tmp_path: Path) -> None:
    distribution = wheel_files.installed(tmp_path, wheel_files.files("thing"))
    (tmp_path / "thing.py").unlink()

    with pytest.raises(HostError, match=r"thing\.py: No such file"):
        own_wheel.installed(distribution)


def test_equal_files_make_equal_wheels_whatever_their_order(tmp_path: Path) -> None:
    files = wheel_files.files("thing")
    own_wheel.pack(tmp_path / "one.whl", files)
    own_wheel.pack(tmp_path / "other.whl", dict(reversed(files.items())))

    assert (tmp_path / "one.whl").read_bytes() == (tmp_path / "other.whl").read_bytes()


def test_a_wheel_ends_with_its_complete_record(tmp_path: Path) -> None:
    """A wheel names every file in its RECORD and ends with that file."""
    files = wheel_files.files("thing")
    own_wheel.pack(tmp_path / "thing.whl", files)

    with ZipFile(tmp_path / "thing.whl") as archive:
        record = archive.read("thing-1.0.dist-info/RECORD").decode().splitlines()
    assert [line.split(",")[0] for line in record] == [*sorted(files), "thing-1.0.dist-info/RECORD"]
    assert all(line.split(",")[1].startswith("sha256=") for line in record[:-1])
