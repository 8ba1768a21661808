"""A collection takes what belongs to a run, and replaces no file."""

import os
from pathlib import Path

import pytest

from orchestrator.bundles.returns import collect as collecting
from orchestrator.bundles.returns.collect import collect
from orchestrator.bundles.returns.merge import merge
from orchestrator.errors import HostError, InputError
from tests.unit.bundles.returns.returning_runs import RUN, a_run, collected, content, entries


def test_a_run_being_written_is_not_collected(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    lock = run.lock()

    with pytest.raises(HostError, match="another orchestrator is writing this run"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")

    lock.release()
    assert not list(tmp_path.glob("*.zst*"))


def test_an_existing_file_with_other_content_stays(far: Path, tmp_path: Path) -> None:
    """A file that is there already stays, and is an error unless it has the same content."""
    run = a_run(far)
    file = collected(tmp_path / "r.tar.zst", run)
    first = file.read_bytes()
    collect([run], file, "0.1.0")
    (run.folder / "environments.json").write_text("{}")

    with pytest.raises(InputError, match="is there already, with something else in it"):
        collect([run], file, "0.1.0")

    assert file.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["r.tar.zst"]


def test_a_dangling_link_is_not_replaced(far: Path, tmp_path: Path) -> None:
    """A link that leads nowhere is not replaced by the collected file."""
    link = tmp_path / "r.tar.zst"
    link.symlink_to("not-mounted")

    with pytest.raises(HostError, match=r"r\.tar\.zst: cannot be written: .*; choose another place with -o"):
        collect([a_run(far)], link, "0.1.0")

    assert link.is_symlink()


def test_a_file_growing_during_collection_is_reported(far: Path, tmp_path: Path) -> None:
    """A file that grows while it is collected is reported, and nothing is left."""
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


def test_planted_links_and_pipes_stay_behind(far: Path, home: Path, tmp_path: Path) -> None:
    """Links and pipes that were planted in a run stay behind and are reported."""
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

    merge(collected(tmp_path / "r.tar.zst", run), home)

    assert content(home) == content(far)
    assert (home / RUN / ("x" * 200) / ("y" * 200) / "0" / "Größe 大きさ.txt").read_text() == "here"


def test_file_headers_hide_user_and_time(far: Path, tmp_path: Path) -> None:
    """The headers of the collected file say nothing of the user or the time."""
    file = collected(tmp_path / "r.tar.zst", a_run(far))

    for header, _ in entries(file):
        assert (header.uid, header.gid, header.uname, header.gname, header.mtime) == (0, 0, "", "", 0)


def test_an_impossible_run_name_is_refused_before_collection(far: Path, tmp_path: Path) -> None:
    """A name that no run can have is refused before the run is collected."""
    run = a_run(far, "my run")

    with pytest.raises(InputError, match="'my run' is none; rename the folder"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")
