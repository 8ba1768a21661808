"""A flush of one file system, seen at the function of the C library."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.results.files import writing


def test_the_file_system_of_the_folder_is_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[tuple[int, str]] = []

    def syncfs(descriptor: int) -> int:
        flushed.append((descriptor, str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        return 0

    monkeypatch.setattr(writing.ctypes, "CDLL", lambda _: SimpleNamespace(syncfs=syncfs))
    writing.flush(tmp_path)

    ((descriptor, folder),) = flushed
    assert folder == str(tmp_path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_a_library_without_it_flushes_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(writing.ctypes, "CDLL", lambda _: SimpleNamespace())
    monkeypatch.setattr(os, "sync", lambda: calls.append("sync"))
    writing.flush(tmp_path)

    assert calls == ["sync"]


def test_the_library_of_this_host_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real call, which returns without a flush of all."""
    monkeypatch.setattr(os, "sync", lambda: pytest.fail("flushed all file systems"))
    writing.flush(tmp_path)
