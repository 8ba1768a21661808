"""Build contexts as reproducible archives."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.images.context import ContextFile, digest, folder_files, source_files, tar


def test_the_archive_holds_every_file_whole(tmp_path: Path) -> None:
    """The archive holds every file with its content, whatever its length."""
    on_disk = tmp_path / "wheel"
    on_disk.write_bytes(b"w" * 3_000_000)
    files = (
        ContextFile("Dockerfile", b"FROM x\n"),
        ContextFile("empty", b""),
        ContextFile("a" * 150, b"long name"),
        ContextFile("wheel", on_disk),
    )

    with tarfile.open(fileobj=io.BytesIO(b"".join(tar(files)))) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]

    assert members == {"Dockerfile": b"FROM x\n", "empty": b"", "a" * 150: b"long name", "wheel": b"w" * 3_000_000}


def test_equal_files_make_equal_archives(tmp_path: Path) -> None:
    """Equal files make equal archives, whenever they were written."""
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        (folder / "run.py").write_text("print()")

    assert b"".join(tar(source_files(first, "b"))) == b"".join(tar(source_files(second, "b")))


def test_remains_of_interpreters_and_editors_are_ignored(tmp_path: Path) -> None:
    """Files that interpreters and editors leave behind are no source."""
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "run.cpython-311.pyc").write_bytes(b"")
    (tmp_path / ".run.py.swp").write_bytes(b"")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "lenet.py").write_bytes(b"")

    assert [file.name for file in source_files(tmp_path, "benchmarks")] == ["benchmarks/models/lenet.py"]


def test_the_digest_ignores_only_the_order(tmp_path: Path) -> None:
    """The digest sees names, modes and contents, and no order."""
    a, b = ContextFile("a", b"1"), ContextFile("b", b"2")
    on_disk = tmp_path / "a"
    on_disk.write_bytes(b"1")

    assert digest((a, b)) == digest((b, a)) == digest((ContextFile("a", on_disk), b))
    assert (
        len({digest((a,)), digest((b,)), digest((ContextFile("a", b"2"),)), digest((ContextFile("a", b"1", 0o755),))})
        == 4
    )


def test_patterns_match_names_outside_utf_8(tmp_path: Path) -> None:
    """Patterns and names that are no UTF-8 mean each other."""
    for name in (b"Dockerfile", b"caf\xe9", b"na\xefve"):
        (tmp_path / os.fsdecode(name)).write_bytes(b"")
    (tmp_path / ".dockerignore").write_bytes(b"# pass\xe9\ncaf\xe9\n")

    files = folder_files(tmp_path / "Dockerfile")

    assert [os.fsencode(file.name) for file in files] == [b"Dockerfile", b".dockerignore", b"na\xefve"]
    assert len(digest(files)) == 64
    with tarfile.open(fileobj=io.BytesIO(b"".join(tar(files)))) as archive:
        assert [os.fsencode(name) for name in archive.getnames()][-1] == b"na\xefve"


def test_a_bad_pattern_is_reported_with_its_place(tmp_path: Path) -> None:
    """A line that is no pattern is reported with its place."""
    (tmp_path / "Dockerfile").write_text("FROM x\n")
    (tmp_path / ".dockerignore").write_text("*.pyc\n\n**[z-a]\n")

    with pytest.raises(InputError, match=r"/\.dockerignore:3: '\*\*\[z-a\]' is no pattern: bad character range z-a"):
        folder_files(tmp_path / "Dockerfile")


def test_only_links_within_the_context_are_followed(
    tmp_path: Path,
) -> None:
    """A link that leads out of the folder of a Dockerfile is refused, and one inside is followed."""
    folder = tmp_path / "context"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM x\n")
    (folder / "inside").symlink_to("Dockerfile")

    assert [file.name for file in folder_files(folder / "Dockerfile")] == ["Dockerfile", "inside"]
    (tmp_path / "secret").write_text("secret")
    (folder / "out").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="context/out: leads out of the build context through a link; copy the file"):
        folder_files(folder / "Dockerfile")
