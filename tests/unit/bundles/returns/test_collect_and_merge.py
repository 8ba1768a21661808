"""The way back: what was collected comes home whole, once, and takes nothing's place."""

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

from orchestrator.bundles.returns import collect as collecting
from orchestrator.bundles.returns import merge as merging
from orchestrator.bundles.returns.collect import collect
from orchestrator.bundles.returns.merge import merge
from orchestrator.errors import HostError, InputError
from orchestrator.results import index
from orchestrator.results.store import Run, runs
from tests.unit.bundles.returns.returning_runs import HOST, OTHER, RUN, a_run, content, entries


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return tmp_path / "far" / "results"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home" / "results"


def _collected(path: Path, *runs: Run) -> Path:
    collect(runs, path, "0.1.0")
    return path


def test_every_file_of_the_runs_comes_home_as_it_was(far: Path, home: Path, tmp_path: Path) -> None:
    runs = [a_run(far), a_run(far, OTHER, rate=2000.0)]
    file = _collected(tmp_path / "r.tar.zst", *runs)

    merged = merge(file, home)

    assert [run.run for run in merged.added] == [RUN, OTHER]
    assert content(home) == content(far)
    assert len(content(home)) == 2 * (1 + 2 * 3)


def test_who_measured_what_is_in_the_file_and_in_the_run_at_home(far: Path, home: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER, host={"hostname": "farther"}))

    merged = merge(file, home)

    assert [run.host["hostname"] for run in merged.added] == ["far", "farther"]
    assert Run(home / RUN).record().host == HOST


def test_two_collections_of_the_same_runs_are_the_same_bytes(far: Path, tmp_path: Path) -> None:
    one, two = a_run(far), a_run(far, OTHER)
    first = _collected(tmp_path / "1.tar.zst", one, two).read_bytes()
    for path in far.rglob("*"):
        os.utime(path, (1, 1))

    assert _collected(tmp_path / "2.tar.zst", two, one, one).read_bytes() == first


def test_the_file_can_be_checked_with_tar_and_sha256sum_alone(far: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))

    plain = zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
    (tmp_path / "by hand").mkdir()

    ended = subprocess.run(
        ["sh", "-c", "tar xf - && sha256sum --quiet --check SHA256SUMS"],
        cwd=tmp_path / "by hand", input=plain, check=False,
    )  # fmt: skip

    assert ended.returncode == 0
    assert (tmp_path / "by hand" / RUN / "run.json").exists()


def test_a_second_merge_is_a_no_op(far: Path, home: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))
    merge(file, home)
    times = {path: path.stat().st_mtime_ns for path in home.rglob("*/*")}

    again = merge(file, home)

    assert (again.added, [run.run for run in again.present]) == ((), [RUN])
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*/*")} == times


def test_pages_that_were_made_since_are_no_collision(far: Path, home: Path, tmp_path: Path) -> None:
    run = a_run(far)
    (run.folder / "report").mkdir()
    (run.folder / "report" / "index.html").write_text("of the far host")
    file = _collected(tmp_path / "r.tar.zst", run)
    merge(file, home)
    (home / RUN / "report").mkdir()
    (home / RUN / "report" / "index.html").write_text("of this one")

    assert [one.run for one in merge(file, home).present] == [RUN]
    assert (home / RUN / "report" / "index.html").read_text() == "of this one"


@pytest.mark.parametrize("change", ["other", "missing", "link"])
def test_a_run_with_other_content_is_a_collision_that_names_the_file(
    far: Path, home: Path, tmp_path: Path, change: str
) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
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


def test_a_broken_link_in_the_place_of_a_run_is_not_replaced(far: Path, home: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))
    home.mkdir(parents=True)
    (home / RUN).symlink_to(tmp_path / "nowhere")

    with pytest.raises(InputError, match="is another run of that name"):
        merge(file, home)

    assert (home / RUN).is_symlink()
    assert not (tmp_path / "nowhere").exists()


def test_what_a_killed_merge_has_left_is_cleared_away_by_the_next(far: Path, home: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))
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
def test_a_killed_merge_shows_no_run_until_the_next(far: Path, home: Path, tmp_path: Path, renames: int) -> None:
    """Whatever the rename before which a merge is killed, readers see none of its runs, and the next merge all."""
    third = "20260102T050607Z-0a1b"
    file = _collected(tmp_path / "r.tar.zst", *(a_run(far, name) for name in (RUN, OTHER, third)))
    later = _collected(tmp_path / "later.tar.zst", a_run(far, "20260103T000000Z-ffff"))
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
    file = _collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if target == home / OTHER:
            raise OSError(13, "Permission denied", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(HostError, match="Permission denied; nothing was merged"):
        merge(file, home)

    assert (runs(home), content(home)) == ([], {})


def test_runs_are_on_disk_before_they_get_their_names(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not leave a name whose run is not on disk: nothing but the order of the calls shows that."""
    file = _collected(tmp_path / "r.tar.zst", a_run(far), a_run(far, OTHER))
    calls: list[tuple[str, bool]] = []

    def told(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def recorded(*arguments: Any) -> object:
            calls.append((name, (home / ".merging.json").exists()))
            return call(*arguments)

        return recorded

    monkeypatch.setattr(os, "sync", told("sync", os.sync))
    monkeypatch.setattr(Path, "rename", told("rename", Path.rename))
    merge(file, home)

    assert calls == [("sync", False), ("rename", True), ("rename", True), ("sync", True)]
    assert not (home / ".merging.json").exists()


def test_a_merge_that_fails_while_it_writes_leaves_nothing(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(merging, "_copied", full)
    with pytest.raises(HostError, match="No space left on device; nothing was merged"):
        merge(file, home)

    assert content(home) == {}


def test_what_the_disk_cannot_hold_is_refused_before_it_is_written(
    far: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(merging.shutil, "disk_usage", lambda _: usage)

    with pytest.raises(HostError, match=r"GB are needed and 0\.0 GB free"):
        merge(file, home)


def test_two_merges_into_one_folder_do_not_meet(far: Path, home: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))
    home.mkdir(parents=True)

    with FileLock(home / ".merge.lock"), pytest.raises(HostError, match="another merge is under way"):
        merge(file, home)


def test_a_run_that_is_being_written_is_not_collected(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    lock = run.lock()

    with pytest.raises(HostError, match="another orchestrator is writing this run"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")

    lock.release()
    assert not list(tmp_path.glob("*.zst*"))


def test_a_file_that_is_there_stays_unless_it_is_the_same(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    file = _collected(tmp_path / "r.tar.zst", run)
    first = file.read_bytes()
    collect([run], file, "0.1.0")
    (run.folder / "environments.json").write_text("{}")

    with pytest.raises(InputError, match="is there already, with something else in it"):
        collect([run], file, "0.1.0")

    assert file.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["r.tar.zst"]


def test_a_link_that_leads_nowhere_is_not_replaced_either(far: Path, tmp_path: Path) -> None:
    link = tmp_path / "r.tar.zst"
    link.symlink_to("not-mounted")

    with pytest.raises(HostError, match=r"r\.tar\.zst: cannot be written: .*; choose another place with -o"):
        collect([a_run(far)], link, "0.1.0")

    assert link.is_symlink()


def test_a_file_that_grows_meanwhile_is_told_and_nothing_is_left(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    log = next(run.folder.rglob("log.txt"))

    write = collecting._write

    def growing(*arguments: object) -> None:
        log.write_text("more\n" * 10)
        write(*arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "_write", growing)
        with pytest.raises(HostError, match=f"{log}: changed while it was collected"):
            collect([run], tmp_path / "r.tar.zst", "0.1.0")

    assert not list(tmp_path.glob("*.zst*")) + list(tmp_path.glob(".*"))


def test_links_and_pipes_that_were_planted_stay_behind_and_are_told(far: Path, home: Path, tmp_path: Path) -> None:
    run = a_run(far)
    folder = run.repeat_folder(run.plan().cells[0].id, 0)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "away").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    (folder / "new\nline").write_text("x")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).write_text("x")

    found = collect([run], tmp_path / "r.tar.zst", "0.1.0")

    assert len(found.left_out) == 5
    assert all("passwd" in line or "no plain file" in line or "control" in line or "valid text" in line
               for line in found.left_out)  # fmt: skip
    merge(tmp_path / "r.tar.zst", home)
    assert len(content(home)) == 7


def test_long_and_foreign_names_are_carried(far: Path, home: Path, tmp_path: Path) -> None:
    run = a_run(far)
    deep = run.folder / ("x" * 200) / ("y" * 200) / "0"
    deep.mkdir(parents=True)
    (deep / "Größe 大きさ.txt").write_text("here")
    (deep / "leer").touch()

    merge(_collected(tmp_path / "r.tar.zst", run), home)

    assert content(home) == content(far)
    assert (home / RUN / ("x" * 200) / ("y" * 200) / "0" / "Größe 大きさ.txt").read_text() == "here"


def test_the_headers_of_the_file_say_nothing_of_the_user_or_the_time(far: Path, tmp_path: Path) -> None:
    file = _collected(tmp_path / "r.tar.zst", a_run(far))

    for header, _ in entries(file):
        assert (header.uid, header.gid, header.uname, header.gname, header.mtime) == (0, 0, "", "", 0)


def test_a_name_that_no_run_can_have_is_refused_before_it_is_collected(far: Path, tmp_path: Path) -> None:
    run = a_run(far, "my run")

    with pytest.raises(InputError, match="'my run' is none; rename the folder"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")
