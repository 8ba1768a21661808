import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.bundles.format.manifest import Base
from orchestrator.workflows.host import places
from tests.unit.bundles.write import installing
from tests.unit.bundles.write.installing import Host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host on which the orchestrator is installed as an image, with a socket where its engine would be."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    host = Host(home).with_engine()
    bundle = tmp_path / "night"
    installing.write_bundle(bundle)
    assert host.install(bundle, "--container", "--no-load").returncode == 0
    monkeypatch.delenv(places.LOCK_FOLDER_VARIABLE)
    monkeypatch.chdir(home)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind("s.sock")
        host.variables = {"DOCKER_HOST": f"unix://{home}/s.sock"}
        yield host


def started(host: Host, *arguments: str | Path, folder: Path | None = None) -> list[str]:
    """The arguments that the engine's `docker run` gets."""
    done = host.run(host.command, *arguments, folder=folder or host.home / "work")
    assert done.returncode == 0, done.stderr
    return (host.home / "run.log").read_text().splitlines()


def shared(words: list[str]) -> set[str]:
    mounts = [word for word in words if word.startswith("type=bind")]
    places = [word.split('"')[1].removeprefix("source=") for word in mounts]
    assert places == [word.split('"')[3].removeprefix("target=") for word in mounts], "the same path on both sides"
    return set(places)


def turns() -> str:
    """Return the shared path of the host lock, the folder of locks or one file in `/tmp`."""
    folder = places.lock_folder({})
    return "/tmp/framework-bench-measuring.lock" if folder == Path("/tmp") else str(folder)


def refused(host: Host, *arguments: str | Path, status: int, folder: Path | None = None) -> str:
    done = host.run(host.command, *arguments, folder=folder or host.home / "work")
    assert done.returncode == status, done.stderr
    assert not (host.home / "run.log").exists()
    (line,) = done.stderr.splitlines()
    return line


def test_arguments_follow_the_image_unchanged(host: Host) -> None:
    """The container gets its arguments as they are, after its image."""
    words = started(host, "run", "--select", "a b*", "--", "-x")

    assert words[words.index(installing.IMAGE_ID) :] == [installing.IMAGE_ID, "run", "--select", "a b*", "--", "-x"]


def test_the_container_runs_the_installed_image(host: Host) -> None:
    """The container runs the image that was installed, whatever has got its name since."""
    host.has(installing.REFERENCE, "sha256:" + "6" * 64)

    assert installing.IMAGE_ID in started(host, "plan")


def test_the_container_sees_only_its_own_places(host: Host) -> None:
    """The container sees the folder it starts in, its cache, its data and its engine, and no more."""
    words = started(host, "plan")

    own = {f"{host.home}/work", f"{host.home}/.cache/framework-bench", f"{host.home}/.local/share/framework-bench"}
    assert shared(words) == own | {f"{host.home}/s.sock", turns()}
    assert words[words.index("--workdir") + 1] == f"{host.home}/work"
    assert words[words.index("--network") + 1] == "none"


def test_the_container_sees_folders_named_by_arguments(host: Host) -> None:
    """The container sees the folders that arguments name, and those of the files that they name."""
    for name in ("a, b: c", "matrices", "more", "results"):
        (host.home / name).mkdir()
    (host.home / "matrices/m.yaml").write_text("")
    host.variables["ORCHESTRATOR_FOLDERS"] = f"{host.home}/more"

    words = started(
        host, "run", "-f", "../matrices/m.yaml", f"--data={host.home}/a, b: c", "--results", "../results/new", "x/y*"
    )

    named = shared(words)
    assert {f"{host.home}/{name}" for name in ("a, b: c", "matrices", "more", "results")} <= named
    assert str(host.home) not in named


def test_a_nested_folder_is_not_shared_twice(host: Host) -> None:
    """A folder within one that the container sees is not named a second time."""
    (host.home / "work/inner").mkdir()

    assert f"{host.home}/work/inner" not in shared(started(host, "load", "inner", f"{host.home}/work/inner"))


def test_a_delta_shows_the_bundles_next_to_it(host: Host) -> None:
    """Next to a delta, the container sees the bundles that it may build on."""
    stick = host.home / "the stick"
    for name, base in (("first", None), ("second", Base(name="first", manifest_sha256="0" * 64)), ("photos", None)):
        (stick / name).mkdir(parents=True)
        (stick / name / "a file").write_text("")
        if name != "photos":
            installing.seal(stick / name, base)
    for name in ("older.tar", 'a"b.tar'):
        (stick / name).write_bytes(b"")

    of_the_first = shared(started(host, "load", "../the stick/first"))
    of_the_second = shared(started(host, "load", f"{stick}/second"))

    def seen(named: set[str]) -> set[str]:
        return {path for path in named if path.startswith(str(stick))}

    assert seen(of_the_first) == {f"{stick}/first"}
    assert seen(of_the_second) == {f"{stick}/first", f"{stick}/second", f"{stick}/older.tar"}


def test_container_runs_take_turns_with_host_runs(host: Host) -> None:
    words = started(host, "run")
    assert "ORCHESTRATOR_LOCK_FOLDER" in {words[at + 1] for at, word in enumerate(words) if word == "--env"}

    host.variables["ORCHESTRATOR_LOCK_FOLDER"] = f"{host.home}/locks"
    named = shared(started(host, "run"))

    assert f"{host.home}/locks" in named
    assert turns() not in named


def test_a_system_file_is_seen_without_its_folder(host: Host) -> None:
    """A file in a folder of the system is seen alone."""
    named = shared(started(host, "load", "--allowed-signers", "/etc/hostname"))

    assert "/etc/hostname" in named
    assert "/etc" not in named


@pytest.mark.parametrize("folder", ["/", "/etc", "/usr/local"])
def test_a_folder_of_the_system_is_not_shared(host: Host, folder: str) -> None:
    assert "a folder of the system" in refused(host, "run", "--results", folder, status=2)
    assert "a folder of the system" in refused(host, "plan", status=2, folder=Path(folder))


def test_the_container_runs_as_the_caller(host: Host) -> None:
    """The container runs as the caller, with the groups of the caller and of the engine."""
    words = started(host, "plan")

    groups = {words[at + 1] for at, word in enumerate(words) if word == "--group-add"}
    assert words[words.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"
    assert str((host.home / "s.sock").stat().st_gid) in groups
    assert {str(group) for group in os.getgroups()} <= groups


def test_the_container_gets_only_its_own_variables(host: Host) -> None:
    """The container gets the variables that are its own, by name, and no others."""
    host.variables |= {"ORCHESTRATOR_IDLE_WAIT": "0", "A_SECRET": "x"}

    words = started(host, "plan")

    names = {words[at + 1] for at, word in enumerate(words) if word == "--env"}
    assert {"ORCHESTRATOR_IDLE_WAIT", "HOME", "DOCKER_HOST", "ORCHESTRATOR_OWN_IMAGE"} <= names
    assert "A_SECRET" not in names


def test_the_container_keeps_to_the_callers_cpus(host: Host) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("this machine has one CPU")
    subprocess.run(["taskset", "--version"], check=True, capture_output=True)
    assert "--cpuset-cpus" not in started(host, "plan")
    host.run("taskset", "--cpu-list", str(allowed[-1]), host.command, "plan", folder=host.home / "work")

    words = (host.home / "run.log").read_text().splitlines()
    assert words[words.index("--cpuset-cpus") + 1] == str(allowed[-1])


def test_an_engine_elsewhere_cannot_be_used(host: Host) -> None:
    host.variables = {"DOCKER_HOST": "tcp://elsewhere:2375"}

    assert "can only use the engine of this host" in refused(host, "plan", status=3)


def test_an_engine_that_is_not_there_is_named(host: Host) -> None:
    host.variables = {"DOCKER_HOST": "unix:///nowhere.sock"}

    assert refused(host, "plan", status=3) == "orchestrator: no container engine at /nowhere.sock; start Docker"


def test_a_missing_image_is_reported_with_its_remedy(host: Host) -> None:
    """An image that has gone from the engine is reported with the remedy."""
    (host.home / "images").unlink()

    assert f"{installing.REFERENCE} is not on this engine any more; run install.sh" in refused(host, "plan", status=3)
    host.variables["ENGINE_ENDS"] = "1"
    assert "does not answer this user" in refused(host, "plan", status=3)


def test_a_name_that_cannot_be_shared_is_refused(host: Host) -> None:
    (host.home / 'a"b').mkdir()

    assert "cannot be shared" in refused(host, "load", '../a"b', status=2)
