"""The parts of the cache that may go."""

import json
import os
from pathlib import Path

import pytest
from filelock import FileLock

from orchestrator.runtimes import cache_contents
from orchestrator.runtimes.environments import MARKER


def environment(cache: Path, key: str, image: str | None, age_s: int) -> Path:
    folder = cache / "environments" / key
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").write_bytes(b"x" * 1000)
    marker = folder / MARKER
    marker.write_text(json.dumps({"versions": {}} | ({"image": image} if image else {})))
    os.utime(folder, (1e9 - age_s, 1e9 - age_s))
    return folder


def names(cache: Path, keep_last: int, *in_use: str) -> list[str]:
    return [one.path.name for one in cache_contents.surplus(cache, keep_last, in_use)]


def test_the_newest_environment_of_each_image_stays(tmp_path: Path) -> None:
    for key, image, age_s in (("a1", "bench/a:1", 10), ("a2", "bench/a:1", 5), ("b1", "bench/b:1", 99)):
        environment(tmp_path, key, image, age_s)

    assert names(tmp_path, 1) == ["a1"]
    assert names(tmp_path, 2) == []
    assert names(tmp_path, 0) == ["a2", "a1", "b1"]
    assert names(tmp_path, 0, str(tmp_path / "environments" / "a2" / "bin" / "python")) == ["a1", "b1"]


def test_environment_of_unknown_image_stands_alone(tmp_path: Path) -> None:
    """An environment that does not say what it is for stands alone."""
    environment(tmp_path, "old1", None, 10)
    environment(tmp_path, "old2", None, 20)

    assert names(tmp_path, 1) == []


def test_indexes_and_build_logs_may_go(tmp_path: Path) -> None:
    """Indexes and build logs can always be made again, and nothing else is touched."""
    (tmp_path / "results-0123.sqlite").write_bytes(b"x" * 100)
    (tmp_path / "build-logs").mkdir()
    (tmp_path / "build-logs" / "a.log").write_text("built\n")
    (tmp_path / "parity" / "0123").mkdir(parents=True)
    (tmp_path / "parity" / "0123" / "result.json").write_text("{}")
    (tmp_path / "measuring.lock").touch()
    found = cache_contents.surplus(tmp_path, 1)

    assert [(one.kind, one.size_bytes) for one in found] == [("index", 100), ("logs", 6), ("answers", 2)]
    assert all(cache_contents.remove(one) for one in found)
    assert not (tmp_path / "results-0123.sqlite").exists()
    assert (tmp_path / "measuring.lock").exists()


def test_newest_archive_of_exports_stays(tmp_path: Path) -> None:
    """The files that exports keep can go, and the newest archive stays."""
    for folder in ("layer-contents", "wheel-proofs", "own-image", "somebody-elses"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.json").write_text("{}")
    for number, name in enumerate(("old.tar.gz", "new.tar.gz")):
        (tmp_path / "own-image" / name).write_bytes(bytes(100))
        os.utime(tmp_path / "own-image" / name, (1e9 + number, 1e9 + number))

    assert names(tmp_path, 1) == ["old.tar.gz", "layer-contents", "wheel-proofs"]
    assert names(tmp_path, 0) == ["new.tar.gz", "old.tar.gz", "layer-contents", "wheel-proofs"]
    assert all(cache_contents.remove(one) for one in cache_contents.surplus(tmp_path, 1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own-image", "somebody-elses"]
    assert (tmp_path / "own-image" / "new.tar.gz").exists()


def test_environment_in_the_making_is_not_removed(tmp_path: Path) -> None:
    """An environment is removed unless somebody makes it just now."""
    folder = environment(tmp_path, "a1", "bench/a:1", 10)
    (one,) = cache_contents.surplus(tmp_path, 0)

    with FileLock(folder.with_suffix(".lock")):
        assert not cache_contents.remove(one)
        assert (folder / MARKER).exists()
    assert one.size_bytes > 1000
    assert cache_contents.remove(one)
    assert not folder.exists()


@pytest.mark.ordinary_user
def test_an_environment_with_closed_folders_is_removed(tmp_path: Path) -> None:
    folder = environment(tmp_path, "a1", "bench/a:1", 10)
    (folder / "cache").mkdir()
    (folder / "cache" / "kernel").touch()
    (folder / "cache").chmod(0o555)
    (folder / "bin").chmod(0)
    (one,) = cache_contents.surplus(tmp_path, 0)

    assert cache_contents.remove(one)
    assert not folder.exists()
