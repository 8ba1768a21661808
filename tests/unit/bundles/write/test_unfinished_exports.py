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
def test_a_persons_files_in_a_bundle_stay(tmp_path: Path, path: str, begin: Callable[[Path], None]) -> None:
    """Files that a person has put into a bundle stay, and the error names them."""
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


def test_a_similar_file_makes_no_unfinished_bundle(tmp_path: Path) -> None:
    """A folder that merely has a file of such a name is no unfinished bundle."""
    for name in (layout.STATE, "data/years.csv", "plan.json"):
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text("{}")
    before = content(tmp_path / "mine")

    with pytest.raises(InputError, match="holds something else than a bundle; choose another -o"):
        exported(an_engine("1"), tmp_path / "mine", ["1"])

    assert content(tmp_path / "mine") == before


@pytest.mark.parametrize("parts", [False, True], ids=["images", "all parts"])
def test_an_interrupted_export_continues_after_a_kill(tmp_path: Path, parts: bool) -> None:
    """An interrupted export goes on, whatever a kill has left of it."""
    exported(an_engine("1"), tmp_path / "fresh", ["1"])
    interrupted(tmp_path / "bundle", parts=parts)
    for name in (f"..unfinished.json.{'ab' * 8}", f".manifest.json.{'ab' * 8}", "images/blobs/sha256/.part"):
        (tmp_path / "bundle" / name).write_text("half")

    exported(an_engine("1"), tmp_path / "bundle", ["1"])

    assert content(tmp_path / "bundle") == content(tmp_path / "fresh")
    verified(tmp_path / "bundle")


def test_a_dataset_inside_the_new_bundle_is_refused(tmp_path: Path) -> None:
    """A dataset is not taken from the bundle that is written anew."""
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "cat.bin").write_bytes(b"cat")
    exported(an_engine("1"), tmp_path / "bundle", ["1"], data=(("cats", tmp_path / "cats"),))
    before = content(tmp_path / "bundle")

    with pytest.raises(InputError, match=r"--data cats: .* lies in the bundle that is written; choose another -o"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"], data=(("cats", tmp_path / "bundle" / "data" / "cats"),))

    assert content(tmp_path / "bundle") == before


def test_only_a_tar_of_a_bundle_is_replaced(tmp_path: Path) -> None:
    """A tar is replaced if it is a bundle, and not the one that is built on."""
    exported(an_engine("1"), tmp_path / "bundle", ["1"])
    archive = write_tar(tmp_path / "bundle", tmp_path / "bundle.tar")
    (tmp_path / "backup.tar").write_bytes(b"years of work" * 100)

    check_replaceable(tmp_path / "none.tar", None)
    check_replaceable(archive, None)
    with pytest.raises(InputError, match="is the bundle that --since names"):
        check_replaceable(archive, open_base(tmp_path / "bundle"))
    with pytest.raises(InputError, match=r"backup\.tar: is there already, and no bundle; move it elsewhere"):
        check_replaceable(tmp_path / "backup.tar", None)
