"""Collected runs are merged whole and once, and replace nothing."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from filelock import FileLock

from orchestrator.bundles.returns import merge as merging
from orchestrator.bundles.returns import publication
from orchestrator.bundles.returns.merge import merge
from orchestrator.errors import HostError, InputError
from orchestrator.results.listing import index
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from tests.unit.bundles.returns.returning_runs import HOST, OTHER, RUN, a_run, collected, content


def test_every_collected_file_comes_home_unchanged(far: Path, home: Path, tmp_path: Path) -> None:
    runs = [a_run(far), a_run(far, OTHER, rate=2000.0)]
    file = collected(tmp_path / "r.tar.zst", *runs)

    merged = merge(file, home)

    assert [run.run for run in merged.added] == [RUN, OTHER]
    assert content(home) == content(far)
    assert len(content(home)) == 2 * (1 + 2 * 3)


def test_file_and_merged_run_name_the_host(far: Path, home: Path, tmp_path: Path) -> None:
    """The host that measured a run is named in the file and in the run at home."""
    file = collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER, host={"hostname": "farther"}))

    merged = merge(file, home)

    assert [run.host["hostname"] for run in merged.added] == ["far", "farther"]
    assert Run(home / RUN).record().host == HOST


def test_equal_collections_are_the_same_bytes(far: Path, tmp_path: Path) -> None:
    """Two collections of the same runs are the same bytes, whatever the times of the files."""
    one, two = a_run(far), a_run(far, OTHER)
    first = collected(tmp_path / "1.tar.zst", one, two).read_bytes()
    for path in far.rglob("*"):
        os.utime(path, (1, 1))

    assert collected(tmp_path / "2.tar.zst", two, one, one).read_bytes() == first


def test_tar_and_sha256sum_suffice_to_check_the_file(far: Path, tmp_path: Path) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far))

    plain = zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
    (tmp_path / "by hand").mkdir()

    ended = subprocess.run(
        ["sh", "-c", "tar xf - && sha256sum --quiet --check SHA256SUMS"],
        cwd=tmp_path / "by hand", input=plain, check=False,
    )  # fmt: skip

    assert ended.returncode == 0
    assert (tmp_path / "by hand" / RUN / "run.json").exists()


def test_a_second_merge_is_a_no_op(far: Path, home: Path, tmp_path: Path) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far))
    merge(file, home)
    times = {path: path.stat().st_mtime_ns for path in home.rglob("*/*")}

    again = merge(file, home)

    assert (again.added, [run.run for run in again.present]) == ((), [RUN])
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*/*")} == times


def test_pages_that_were_made_since_are_no_collision(far: Path, home: Path, tmp_path: Path) -> None:
    run = a_run(far)
    (run.folder / "report").mkdir()
    (run.folder / "report" / "index.html").write_text("of the far host")
    file = collected(tmp_path / "r.tar.zst", run)
    merge(file, home)
    (home / RUN / "report").mkdir()
    (home / RUN / "report" / "index.html").write_text("of this one")

    assert [one.run for one in merge(file, home).present] == [RUN]
    assert (home / RUN / "report" / "index.html").read_text() == "of this one"


@pytest.mark.parametrize("change", ["other", "missing", "link"])
def test_a_run_collision_names_the_differing_file(far: Path, home: Path, tmp_path: Path, change: str) -> None:
    """A run with other content than that at home is a collision, and the error names the file."""
    file = collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
    here = a_run(home)
    log = here.repeat_folder(here.plan().cells[0].id, 1) / "log.txt"
    log.unlink()
    if change == "other":
        log.write_text("measured otherwise\n")
    elif change == "link":
        log.symlink_to(far / log.relative_to(home))
    before = content(home)

    with pytest.raises(InputError, match=f"{log} differs; nothing was merged"):
        merge(file, home)

    assert content(home) == before, "not even the run that would have fitted was merged"
    assert not list(home.glob(".merging-*"))


def test_a_broken_link_for_a_run_is_kept(far: Path, home: Path, tmp_path: Path) -> None:
    """A broken link in the place of a run is not replaced."""
    file = collected(tmp_path / "r.tar.zst", a_run(far))
    home.mkdir(parents=True)
    (home / RUN).symlink_to(tmp_path / "nowhere")

    with pytest.raises(InputError, match="is another run of that name"):
        merge(file, home)

    assert (home / RUN).is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_the_next_merge_clears_a_killed_ones_remains(far: Path, home: Path, tmp_path: Path) -> None:
    """The files that a killed merge has left are cleared away by the next one."""
    file = collected(tmp_path / "r.tar.zst", a_run(far))
    (home / ".merging-0123").mkdir(parents=True)
    (home / ".merging-0123" / "part").write_text("half")

    merge(file, home)

    assert not list(home.glob(".merging-*"))
    assert content(home) == content(far)


KILLED_AFTER = """
import os, signal, sys
from pathlib import Path
from orchestrator.bundles.returns.merge import merge

left = int(sys.argv[3])
rename = Path.rename

def counted(self, target):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return rename(self, target)

Path.rename = counted
merge(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_killed_merge_shows_none_of_its_runs(far: Path, home: Path, tmp_path: Path, renames: int) -> None:
    """Whatever the rename before which a merge is killed, readers see none of its runs, and the next merge all."""
    third = "20260102T050607Z-0a1b"
    file = collected(tmp_path / "r.tar.zst", *(a_run(far, name) for name in (RUN, OTHER, third)))
    later = collected(tmp_path / "later.tar.zst", a_run(far, "20260103T000000Z-ffff"))
    arguments = [sys.executable, "-c", KILLED_AFTER, str(file), str(home), str(renames)]

    assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
    assert runs(home) == []
    assert index.summaries(home, tmp_path / "cache") == ()

    assert [run.run for run in merge(later, home).added] == ["20260103T000000Z-ffff"]
    assert [run.name for run in runs(home)] == [RUN, OTHER, third, "20260103T000000Z-ffff"]
    assert content(home) == content(far)
    assert not list(home.glob(".merging*"))
    assert merge(file, home).added == ()


def test_a_merge_whose_second_rename_fails_leaves_nothing(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if target == home / OTHER:
            raise OSError(13, "Permission denied", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(HostError, match="Permission denied; nothing was merged"):
        merge(file, home)

    assert (runs(home), content(home)) == ([], {})


def test_runs_reach_the_disk_before_their_names(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not leave a name whose run is not on disk: nothing but the order of the calls shows that."""
    file = collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
    calls: list[tuple[str, bool]] = []

    def told(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def recorded(*arguments: Any) -> object:
            calls.append((name, (home / ".merging.json").exists()))
            return call(*arguments)

        return recorded

    monkeypatch.setattr(publication, "flush", told("flush", publication.flush))
    monkeypatch.setattr(Path, "rename", told("rename", Path.rename))
    merge(file, home)

    assert calls == [("flush", False), ("rename", True), ("rename", True), ("flush", True)]
    assert not (home / ".merging.json").exists()


def test_a_merge_failing_to_write_leaves_nothing(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far))

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(merging, "_copied", full)
    with pytest.raises(HostError, match="No space left on device; nothing was merged"):
        merge(file, home)

    assert content(home) == {}


def test_a_merge_beyond_the_free_space_is_refused(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge that the disk cannot hold is refused before anything is written."""
    file = collected(tmp_path / "r.tar.zst", a_run(far))
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(merging.shutil, "disk_usage", lambda _: usage)

    with pytest.raises(HostError, match=r"GB are needed and 0\.0 GB free"):
        merge(file, home)


def test_two_merges_into_one_folder_do_not_meet(far: Path, home: Path, tmp_path: Path) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far))
    home.mkdir(parents=True)

    with FileLock(home / ".merge.lock"), pytest.raises(HostError, match="another merge is under way"):
        merge(file, home)
