"""A collection takes what belongs to a run, and replaces no file."""

import os
from pathlib import Path

import pytest

from orchestrator.bundles.returns import collect as collecting
from orchestrator.bundles.returns.collect import collect
from orchestrator.bundles.returns.merge import merge
from orchestrator.errors import HostError, InputError
from tests.unit.bundles.returns.returning_runs import RUN, a_run, collected, content, entries


def test_a_run_that_is_being_written_is_not_collected(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    lock = run.lock()

    with pytest.raises(HostError, match="another orchestrator is writing this run"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")

    lock.release()
    assert not list(tmp_path.glob("*.zst*"))


def test_a_file_that_is_there_stays_unless_it_is_the_same(far: Path, tmp_path: Path) -> None:
    run = a_run(far)
    file = collected(tmp_path / "r.tar.zst", run)
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

    merge(collected(tmp_path / "r.tar.zst", run), home)

    assert content(home) == content(far)
    assert (home / RUN / ("x" * 200) / ("y" * 200) / "0" / "Größe 大きさ.txt").read_text() == "here"


def test_the_headers_of_the_file_say_nothing_of_the_user_or_the_time(far: Path, tmp_path: Path) -> None:
    file = collected(tmp_path / "r.tar.zst", a_run(far))

    for header, _ in entries(file):
        assert (header.uid, header.gid, header.uname, header.gname, header.mtime) == (0, 0, "", "", 0)


def test_a_name_that_no_run_can_have_is_refused_before_it_is_collected(far: Path, tmp_path: Path) -> None:
    run = a_run(far, "my run")

    with pytest.raises(InputError, match="'my run' is none; rename the folder"):
        collect([run], tmp_path / "r.tar.zst", "0.1.0")
