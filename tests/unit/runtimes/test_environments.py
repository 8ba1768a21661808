"""Virtual environments in a cache: made once, whole or not at all."""

import io
import json
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.errors import HostError
from orchestrator.runtimes import VenvRuntime, environments
from orchestrator.runtimes.environments import (
    MadeEnvironment,
    MakingError,
    MakingStoppedError,
    Tools,
    Workshop,
    key,
    reason,
    whole,
)
from orchestrator.runtimes.local import Interpreter, find_interpreter, interpreter_at
from tests.unit.regression.releases.index_server import Answer, IndexServer, index_server

VERSION = "{}.{}.{}".format(*sys.version_info[:3])
PYTHON = "{}.{}".format(*sys.version_info[:2])
OWN = Interpreter(Path(sys.executable), VERSION)
HOST = {"PATH": "/usr/bin:/bin"}
FRAMEWORK = Framework("bare", "1", python=PYTHON)
BARE = ImageSpec("bench/bare", "1-cpu", "cpu", FRAMEWORK, Environment("noop", PYTHON))


def workshop(folder: Path) -> Workshop:
    (folder / "uv").mkdir(parents=True, exist_ok=True)
    return Workshop(folder, BuildSettings(no_index=True), HOST)


def needing(*requirements: str, expected: tuple[tuple[str, str], ...] = ()) -> ImageSpec:
    return replace(BARE, environment=Environment("noop", PYTHON, requirements, expected_versions=expected))


def test_an_environment_is_made_once_and_found_again(tmp_path: Path) -> None:
    first = environments.provide(BARE, OWN, workshop(tmp_path), tmp_path / "log.txt", threading.Event())
    again = environments.provide(BARE, OWN, workshop(tmp_path), tmp_path / "log.txt", threading.Event())

    assert (first.cached, again.cached) == (False, True)
    assert first.python == again.python
    assert interpreter_at(first.python, HOST, tmp_path) == Interpreter(first.python, VERSION)


def test_a_half_made_environment_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "environments" / key(BARE, OWN)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(sys.executable)
    (folder / "leftover").touch()
    assert whole(folder) is None

    made = environments.provide(BARE, OWN, workshop(tmp_path), tmp_path / "log.txt", threading.Event())
    assert not made.cached
    assert not (folder / "leftover").exists()


def test_environment_without_interpreter_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / environments.MARKER).write_text(json.dumps({"versions": {"six": "1.0"}}))
    (tmp_path / "bin/python").symlink_to(tmp_path / "removed")
    assert whole(tmp_path) is None

    (tmp_path / "removed").touch()
    found = whole(tmp_path)
    assert found is not None
    assert found.versions == (("six", "1.0"),)


def test_unwritable_cache_is_refused_at_once(tmp_path: Path) -> None:
    """A cache that cannot be written is named with the remedy before anything is made."""
    (tmp_path / "file").touch()

    with pytest.raises(HostError, match=r"file/environments: .*: Not a directory; point XDG_CACHE_HOME to"):
        VenvRuntime(tmp_path / "file", BuildSettings(), HOST)


def test_failed_making_leaves_nothing_behind(tmp_path: Path) -> None:
    """A failed making of an environment leaves nothing behind and says why."""
    with pytest.raises(MakingError, match="no-such-distribution was not found"):
        environments.provide(
            needing("no-such-distribution==1"), OWN, workshop(tmp_path), tmp_path / "log.txt", threading.Event()
        )
    assert [entry.name for entry in (tmp_path / "environments").iterdir() if entry.is_dir()] == []


def publish(index: IndexServer, *releases: str) -> None:
    """Offer these releases of `fresh`, and of `needed`, which each asks for in its own version."""
    for name, more in (("fresh", "Requires-Dist: needed=={}\n"), ("needed", "")):
        files = []
        for release in releases:
            file, info = f"{name}-{release}-py3-none-any.whl", f"{name}-{release}.dist-info"
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n" + more.format(release)
            wheel = io.BytesIO()
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"{info}/METADATA", metadata)
                archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                archive.writestr(f"{info}/RECORD", "")
            files.append({"filename": file, "url": f"/{file}", "hashes": {}, "core-metadata": True})
            index.answers |= {f"/{file}": Answer(wheel.getvalue()), f"/{file}.metadata": Answer(metadata.encode())}
        page = {"meta": {"api-version": "1.0"}, "name": name, "files": files}
        index.answers[f"/{name}/"] = Answer(json.dumps(page).encode())


def test_new_release_is_found_without_fetching_again(
    tmp_path: Path,
) -> None:
    """A release of minutes ago is found with what it needs, and what is kept is not fetched again."""
    with index_server() as index:
        where = replace(workshop(tmp_path), settings=BuildSettings(pip_index=index.url))

        def made(*requirements: str) -> MadeEnvironment:
            index.asked.clear()
            return environments.provide(needing(*requirements), OWN, where, tmp_path / "log.txt", threading.Event())

        publish(index, "1")
        made("fresh==1")
        publish(index, "1", "2")
        assert made("fresh==2").versions == (("fresh", "2"), ("needed", "2"))
        made("fresh<=2")
        assert index.asked == []
        with pytest.raises(MakingError, match=r"no version of fresh==3"):
            made("fresh==3")


def test_incomplete_environment_is_not_kept(tmp_path: Path) -> None:
    """An environment that lacks what was asked for is not kept."""
    wrong = needing(expected=(("six", "1.0"),))
    with pytest.raises(MakingError, match=r"six 1\.0 was asked for and is not there"):
        environments.provide(wrong, OWN, workshop(tmp_path), tmp_path / "log.txt", threading.Event())

    assert whole(tmp_path / "environments" / key(wrong, OWN)) is None


def test_making_by_another_is_waited_for(tmp_path: Path) -> None:
    """An environment that another orchestrator makes is waited for until the run is stopped."""
    (tmp_path / "environments").mkdir()
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with FileLock(tmp_path / "environments" / f"{key(BARE, OWN)}.lock"), pytest.raises(MakingStoppedError):
        environments.provide(BARE, OWN, workshop(tmp_path), tmp_path / "log.txt", stop)


def test_key_changes_only_with_installed_things() -> None:
    """The key changes with what is installed and with nothing else."""
    base = key(needing("six==1"), OWN)
    variables = replace(BARE, environment=Environment("other", PYTHON, ("six==1",), variables=(("A", "b"),)))

    assert key(variables, OWN) == base
    assert key(needing("six==2"), OWN) != base
    assert key(needing("six==1"), replace(OWN, version="3.11.99")) != base
    assert key(replace(needing("six==1"), image_class="1_gpu"), OWN) != base


def test_old_pythons_make_their_own_environments() -> None:
    """The tool uv makes environments of the Pythons it knows, and older Pythons make their own."""
    old = Tools(Environment("b", "3.7"), Interpreter(Path("/py/bin/python3.7"), "3.7.16"), Path("/e"))
    new = Tools(Environment("b", "3.8"), Interpreter(Path("/py/bin/python3.8"), "3.8.18"), Path("/e"))

    assert old.make() == ["/py/bin/python3.7", "-m", "venv", "/e"]
    assert old.install("six==1")[:4] == ["/e/bin/python", "-m", "pip", "install"]
    assert old.upgrade("--no-index")[-3:] == ["--no-index", "--upgrade", "pip<22"]
    assert new.upgrade() == []
    assert new.make()[1:] == ["venv", "--quiet", "--no-project", "--python", "/py/bin/python3.8", "/e"]
    assert new.install("six==1")[1:] == ["pip", "install", "--compile-bytecode", "--python", "/e/bin/python", "six==1"]


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (
            "error: No solution found\n  cause: Because there is no six==9\n      and you require it, no.\nbye\n",
            "Because there is no six==9 and you require it, no.",
        ),
        ("  × No solution\n  ╰─▶ Because of six,\n      no.\n", "Because of six, no."),
        ("Looking\nERROR: No matching distribution found for six==9\nWARNING: old pip\n",
         "No matching distribution found for six==9"),
        ("something\nelse\n", "else"),
    ],
)  # fmt: skip
def test_the_reason_is_the_line_that_tells(log: str, why: str) -> None:
    assert reason(log) == why


def test_interpreters_are_found_on_path_or_pyenv(tmp_path: Path) -> None:
    """Interpreters are found on PATH, in pyenv, or not at all."""
    tools, versions = tmp_path / "tools", tmp_path / "pyenv/versions"
    tools.mkdir()
    script(tools / "pyenv", f"echo {tmp_path / 'pyenv'}")
    for patch in ("9", "10"):
        script(versions / f"4.2.{patch}/bin/python4.2", f"echo 4.2.{patch}; echo $0")
    host = {"PATH": f"{tools}:/usr/bin:/bin"}

    found = find_interpreter("4.2", host, Path("/nonexistent"), tmp_path)
    assert found == Interpreter(versions / "4.2.10/bin/python4.2", "4.2.10")

    script(tools / "python4.2", "exit 1")
    assert find_interpreter("4.2", host, Path("/nonexistent"), tmp_path) == found, (
        "one that does not work is passed over"
    )
    script(tools / "python4.2", "echo 4.2.1; echo $0")
    assert find_interpreter("4.2", host, Path("/nonexistent"), tmp_path) == Interpreter(tools / "python4.2", "4.2.1")
    assert find_interpreter("4.3", host, Path("/nonexistent"), tmp_path) is None
    assert find_interpreter(PYTHON, host, Path(sys.executable), tmp_path) == OWN


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
