"""Folders that something hostile has filled: counted within bounds, and taken back."""

import os
import stat
from pathlib import Path

import pytest

from orchestrator.domain import OutputLimit
from orchestrator.results.files.trees import DEEPEST, reclaim, unnest, usage, walk

pytestmark = pytest.mark.ordinary_user


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def nested(folder: Path, depth: int) -> Path:
    for _ in range(depth):
        folder /= "d"
        folder.mkdir()
    return folder


def test_usage_counts_length_and_space(tmp_path: Path) -> None:
    """A sparse file counts by its length, one that is allocated beyond its length by its space."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**40)
    assert 2**40 <= usage(tmp_path).size_bytes < 2**40 + 2**20

    (tmp_path / "sparse").unlink()
    with (tmp_path / "reserved").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 2**20)
        file.truncate(0)
        file.write(b"x")
        file.flush()
        os.posix_fallocate(file.fileno(), 0, 2**20)
    assert usage(tmp_path).size_bytes >= 2**20


def test_usage_counts_a_linked_file_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(bytes(2**20))
    for number in range(5):
        (tmp_path / f"again-{number}").hardlink_to(tmp_path / "one")

    found = usage(tmp_path)
    assert found.files == 6
    assert found.size_bytes < 2**20 + 2**16


def test_usage_counts_folders_and_follows_no_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "large").write_bytes(bytes(2**20))
    (inside / "away").symlink_to(outside)
    (inside / "file").symlink_to(outside / "large")
    os.mkfifo(inside / "pipe")
    nested(inside, 3)

    found = usage(inside)
    assert (found.files, found.problem) == (6, "")
    assert found.size_bytes < 2**19


def test_usage_stops_beyond_its_bounds(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).write_bytes(bytes(4096))

    assert usage(tmp_path, OutputLimit(2**40, 10)).files == 11
    assert usage(tmp_path, OutputLimit(3 * 4096, 100)).files == 4
    assert usage(tmp_path, OutputLimit(2**40, 50)).files == 50
    assert usage(tmp_path / "missing") == usage(tmp_path / "none")


@pytest.mark.parametrize("rights", [0, 0o444, 0o300])
def test_usage_looks_into_closed_folders(tmp_path: Path, rights: int) -> None:
    """Usage looks into a folder that its owner has closed."""
    closed = nested(tmp_path, 2)
    (closed / "hidden").write_bytes(bytes(2**20))
    closed.chmod(rights)
    closed.parent.chmod(rights)

    found = usage(tmp_path)
    assert (found.files, found.problem) == (3, "")
    assert found.size_bytes >= 2**20


def test_folders_nested_too_deep_are_told(tmp_path: Path) -> None:
    inner = nested(tmp_path, DEEPEST)
    (inner / "file").write_text("x")
    problem = usage(tmp_path).problem

    assert problem.endswith(f"is nested more than {DEEPEST} folders deep")
    assert [entry.path for entry in walk(tmp_path)][-1].count("d") == DEEPEST


def test_nests_are_moved_to_where_they_count(tmp_path: Path) -> None:
    """A path longer than the kernel takes at once, a folder that is closed, and a name that is taken."""
    top = tmp_path / "attempt-1"
    top.mkdir()
    (top / "nested-1").write_text("taken")
    descriptor = os.open(top, os.O_RDONLY)
    for _ in range(3 * DEEPEST):
        os.mkdir("d" * 200, dir_fd=descriptor)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("result.txt", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=descriptor))
    os.fchmod(descriptor, 0)
    os.close(descriptor)

    unnest(tmp_path)

    assert usage(tmp_path).problem == ""
    assert usage(tmp_path).files == 3 * DEEPEST + 3
    assert sorted(path.name for path in top.iterdir()) == ["d" * 200, "nested-1", "nested-2", "nested-3", "nested-4"]
    before = [entry.path for entry in walk(tmp_path)]
    unnest(tmp_path)
    assert [entry.path for entry in walk(tmp_path)] == before


def test_reclaim_gives_rights_back_however_deep(tmp_path: Path) -> None:
    top = tmp_path / "io"
    top.mkdir()
    inner = nested(top, 4)
    (inner / "file").write_text("measured")
    (inner / "file").chmod(0)
    folders = [top, *(path for path in sorted(top.rglob("*")) if path.is_dir())]
    for folder, rights in zip(reversed(folders), [0, 0o555, 0o111, 0o444, 0], strict=True):
        folder.chmod(rights)

    reclaim(top)
    assert {mode(folder) & 0o700 for folder in folders} == {0o700}
    assert (inner / "file").read_text() == "measured"


def test_reclaim_takes_special_bits_away(tmp_path: Path) -> None:
    program, folder, closed = tmp_path / "program", tmp_path / "folder", tmp_path / "closed"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o6755)
    folder.mkdir()
    folder.chmod(0o3777)
    closed.mkdir()
    (closed / "program").write_text("")
    (closed / "program").chmod(0o4111)
    closed.chmod(0)
    tmp_path.chmod(0o1777)

    reclaim(tmp_path)
    assert mode(program) == 0o755
    assert mode(folder) == mode(tmp_path) == 0o777
    assert mode(closed / "program") == 0o511


def test_reclaim_follows_no_link(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "file").write_text("")
    (outside / "file").chmod(0o4755)
    outside.chmod(0o1555)
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "file")

    reclaim(inside)
    assert mode(outside) == 0o1555
    assert mode(outside / "file") == 0o4755


def test_reclaim_of_nothing_is_no_error(tmp_path: Path) -> None:
    reclaim(tmp_path / "missing")
    (tmp_path / "file").write_text("x")
    reclaim(tmp_path / "file")

    assert (tmp_path / "file").read_text() == "x"
