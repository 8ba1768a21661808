"""A bundle that cannot fit on a disk is refused before anything is made."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import HostError, InputError
from orchestrator.runtimes.environments import MARKER
from orchestrator.workflows.host.disk import VARIABLE, DiskCheck, free_bytes
from orchestrator.workflows.host.host import Host
from tests.unit.cli.conftest import Program
from tests.unit.planning.test_space import MXNET, TORCH

MATRIX = "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\nrepeats: 1\nparity: false\n"


def having(free: int | None, cache: Path, **variables: str) -> DiskCheck:
    """The check of a host with so much space and its cache below a folder."""
    return DiskCheck(Host({"XDG_CACHE_HOME": str(cache), **variables}), free=lambda place: free)


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_environments_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"not enough disk for 2 environments: about 1\.2 GB .*, 600 MB are free"):
        having(600_000_000, tmp_path).environments([TORCH, MXNET])

    having(1_180_000_000, tmp_path).environments([TORCH, MXNET])


def test_an_environment_that_is_there_counts_nothing(tmp_path: Path) -> None:
    made = tmp_path / "framework-bench" / "environments" / "0123456789abcdef"
    made.mkdir(parents=True)
    (made / MARKER).write_text(json.dumps({"image": TORCH.name, "versions": {}}))
    (made.parent / "broken").mkdir()
    (made.parent / "broken" / MARKER).write_text("[]")

    having(280_000_000, tmp_path).environments([TORCH, MXNET])
    with pytest.raises(HostError, match=r"1 environment: about 280 MB"):
        having(279_000_000, tmp_path).environments([TORCH, MXNET])


def test_a_bundle_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "yet"

    with pytest.raises(HostError, match=r"yet: not enough disk for a bundle of 2 images: about 655 MB"):
        having(1, tmp_path).bundle(folder, [TORCH, MXNET])
    assert not folder.exists()


@pytest.mark.parametrize("free", [None, 10**15])
def test_unknown_or_ample_space_refuses_nothing(tmp_path: Path, free: int | None) -> None:
    having(free, tmp_path).bundle(tmp_path, [TORCH])
    having(free, tmp_path).environments([TORCH])


def test_the_check_can_be_switched_off(tmp_path: Path) -> None:
    having(0, tmp_path, **{VARIABLE: "off"}).environments([TORCH])

    with pytest.raises(InputError, match="ORCHESTRATOR_DISK_CHECK=no: say on or off"):
        having(0, tmp_path, **{VARIABLE: "no"}).environments([TORCH])


def test_disk_of_remote_engine_is_not_asked(tmp_path: Path) -> None:
    """Its data folder may have the name of one that is here."""
    adapter = SimpleNamespace(get_adapter=lambda url: object(), base_url="http://elsewhere:2375")
    client = SimpleNamespace(info=lambda: {"DockerRootDir": str(tmp_path)}, api=adapter)

    having(0, tmp_path).images(client, [TORCH], BuildSettings())  # type: ignore[arg-type]


def test_free_space_is_that_of_the_folder_above(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "a" / "b") == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.1)


def test_a_run_is_refused_before_it_begins(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=1000))

    code, out, error = command("run", "--runtime", "venv")

    assert (code, out) == (3, "")
    assert error.splitlines()[-1].startswith(
        f"{tmp_path}/cache/framework-bench/environments: not enough disk for 1 environment: about 280 MB are needed"
    )
    assert "`orchestrator clean`" in error
    assert "XDG_CACHE_HOME" in error
    assert "--select" in error
    assert "docker" not in error
    assert not list((tmp_path / "results").glob("*"))
    assert not list((tmp_path / "cache" / "framework-bench" / "environments").iterdir())


def measured_before_the_disk_was_full(
    command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    """Finish a run of two environments, none of which the cache holds now: the outcome of a framework by its name."""
    matrix = MATRIX.replace("mxnet==1.9.1", "noop==1.0, noop==1.1").replace("models: [mlp]", "models: [mlp]\nsteps: 10")
    (tmp_path / "matrix.yaml").write_text(matrix)
    first = command("run", "--runtime", "host", "--idle-wait", "0")
    assert first[0] == 0, first[2]
    (run,) = (tmp_path / "results").iterdir()
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"runtime": "venv"}))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=1000))
    return lambda name: next(path for path in run.rglob("outcome.json") if name in str(path))


def test_resumed_run_needs_room_for_the_rest(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed run needs room only for what is left."""
    outcome = measured_before_the_disk_was_full(command, tmp_path, monkeypatch)

    code, out, error = command("run", "--resume", "latest")
    assert code == 0, error
    assert "2 planned repeats: 2 ok" in out

    outcome("noop-1.1").unlink()
    code, _, error = command("run", "--resume", "latest")

    assert code == 3
    assert "not enough disk for 1 environment: about 60 MB are needed, 0 MB are free; make room " in error
    assert "--select" not in error
    assert "docker" not in error


def test_what_is_tried_again_needs_room(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = measured_before_the_disk_was_full(command, tmp_path, monkeypatch)("noop-1.0")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": "failed", "reason": "it crashed"}))

    left = command("run", "--resume", "latest")
    tried = command("run", "--resume", "latest", "--retry-failed")

    assert (left[0], tried[0]) == (1, 3), left[2] + tried[2]
    assert "not enough disk for 1 environment" in tried[2]


def test_a_further_look_needs_room(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All repeats of the first look are there, and what they say decides nothing."""
    (tmp_path / "matrix.yaml").write_text(
        MATRIX.replace("mxnet==1.9.1", "noop==1").replace("[mlp]", "[mlp]\nsteps: 10")
    )
    sides = ("--baseline", "noop==1", "--candidate", "noop==1", "--runtime", "host", "--idle-wait", "0")
    first = command("regress", *sides, "--repeats", "2", "--extra-repeats", "0", "--no-confirm")
    assert first[0] in {0, 1}, first[2]
    (run,) = (tmp_path / "results").iterdir()
    slow = next(path for path in run.rglob("result.json") if "candidate" in str(path) and path.parent.name == "0")
    measured = json.loads(slow.read_text())
    blocks = [block | {"wall_s": 100 * block["wall_s"]} for block in measured["blocks"]]
    slow.write_text(json.dumps(measured | {"blocks": blocks}))
    trial = json.loads((run / "trial.json").read_text())
    trial["rules"]["looks"] = [2, 4]
    (run / "trial.json").write_text(json.dumps(trial))
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_text()) | {"runtime": "venv"}))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=1000))

    code, _, error = command("regress", "--resume", "latest")

    assert code == 3, error
    assert "not enough disk for 1 environment: about 60 MB are needed" in error
    assert {cell["repeats"] for cell in json.loads((run / "run.json").read_text())["plan"]["cells"]} == {2}
