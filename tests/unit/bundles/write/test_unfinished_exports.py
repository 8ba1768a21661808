"""An export into an existing folder continues or replaces earlier exports, and touches nothing else."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.base import open_base
from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.bundles.write import export as exporting
from orchestrator.bundles.write.tar import check_replaceable, write_tar
from orchestrator.errors import InputError
from tests.unit.bundles.small_bundles import PARTS, an_engine, an_export, content, exported, verified

OTHERS = ("results.tar.zst", "notes/todo.txt", "data/cifar10/of-mine.bin", "images/photo.jpg", "images/blobs/sha256/x")


def interrupted(folder: Path, *, parts: bool = False) -> None:
    """Leave an export of one image that was stopped among its images, or when the other parts were written."""
    stop = threading.Event()

    def stopping(_: exporting.Export) -> None:
        stop.set()

    if not parts:
        stop.set()
    with pytest.raises(TransferStoppedError):
        exporting.write(an_export(an_engine("1"), folder, ["1"], stop=stop), (*PARTS, stopping, *PARTS))


def _whole(folder: Path) -> None:
    exported(an_engine("1"), folder, ["1"])


@pytest.mark.parametrize("begin", [_whole, interrupted])
@pytest.mark.parametrize("path", OTHERS)
def test_what_a_person_has_put_into_a_bundle_stays_and_is_named(
    tmp_path: Path, path: str, begin: Callable[[Path], None]
) -> None:
    begin(tmp_path / "bundle")
    (tmp_path / "bundle" / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "bundle" / path).write_text("days of work")
    before = content(tmp_path / "bundle")

    with pytest.raises(InputError, match=f"holds what no export has put there: {path}; move that elsewhere"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"])

    assert content(tmp_path / "bundle") == before


def test_many_strays_are_counted(tmp_path: Path) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    for number in range(7):
        (tmp_path / "bundle" / f"{number}.txt").touch()

    with pytest.raises(InputError, match=r": 0\.txt, 1\.txt, 2\.txt, 3\.txt, 4\.txt and 2 more; move that elsewhere"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"])


def test_a_folder_that_merely_has_such_a_file_is_no_unfinished_bundle(tmp_path: Path) -> None:
    for name in (layout.STATE, "data/years.csv", "plan.json"):
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text("{}")
    before = content(tmp_path / "mine")

    with pytest.raises(InputError, match="holds something else than a bundle; choose another -o"):
        exported(an_engine("1"), tmp_path / "mine", ["1"])

    assert content(tmp_path / "mine") == before


@pytest.mark.parametrize("parts", [False, True], ids=["images", "all parts"])
def test_an_interrupted_export_goes_on_whatever_a_kill_has_left_of_it(tmp_path: Path, parts: bool) -> None:
    exported(an_engine("1"), tmp_path / "fresh", ["1"])
    interrupted(tmp_path / "bundle", parts=parts)
    for name in (f"..unfinished.json.{'ab' * 8}", f".manifest.json.{'ab' * 8}", "images/blobs/sha256/.part"):
        (tmp_path / "bundle" / name).write_text("half")

    exported(an_engine("1"), tmp_path / "bundle", ["1"])

    assert content(tmp_path / "bundle") == content(tmp_path / "fresh")
    verified(tmp_path / "bundle")


def test_a_dataset_is_not_taken_from_the_bundle_that_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "cat.bin").write_bytes(b"cat")
    exported(an_engine("1"), tmp_path / "bundle", ["1"], data=(("cats", tmp_path / "cats"),))
    before = content(tmp_path / "bundle")

    with pytest.raises(InputError, match=r"--data cats: .* lies in the bundle that is written; choose another -o"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"], data=(("cats", tmp_path / "bundle" / "data" / "cats"),))

    assert content(tmp_path / "bundle") == before


def test_a_tar_is_replaced_where_it_is_a_bundle_and_not_the_one_that_is_built_on(tmp_path: Path) -> None:
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    archive = write_tar(tmp_path / "bundle", tmp_path / "bundle.tar")
    (tmp_path / "backup.tar").write_bytes(b"years of work" * 100)

    check_replaceable(tmp_path / "none.tar", None)
    check_replaceable(archive, None)
    with pytest.raises(InputError, match="is the bundle that --since names"):
        check_replaceable(archive, open_base(tmp_path / "bundle"))
    with pytest.raises(InputError, match=r"backup\.tar: is there already, and no bundle; move it elsewhere"):
        check_replaceable(tmp_path / "backup.tar", None)
