"""The whole way across an air gap, as docs/offline.md walks it, every command of the page in its place."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from far_support import FarSide

from orchestrator.bundles.returns.results_manifest import MERGED
from tests.documented import blocks

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PAGE = "offline.md"
BIN = Path(sys.executable).parent
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
AS_PLANNED = {
    "mxnet-1.9.1-cpu": {"ok"}, "keras-mxnet-2.2.4.3-on-mxnet-1.5.1-cpu": {"ok"},
    "noop-1-1_gpu": {"no_device"},
}  # fmt: skip
PATH = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != BIN)
# One that must never be called: it says so, and fails.
NO_PYTHON = '#!/bin/sh\necho "$0 $*" >>"$HOME/python-was-called"\nexit 1\n'


@dataclass(frozen=True)
class Home:
    """The first side, after the bundle was made and the matrix run."""

    folder: Path
    bundle: Path
    environment: Mapping[str, str]
    own_run: str

    def walk(self, section: str, stick: Path) -> str:
        """Run the commands of a section of the page, and give all that they said."""
        environment = {**self.environment, "STICK": str(stick)}
        command = ["sh", "-c", _script(section)]
        return _said(
            subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        )


@dataclass(frozen=True)
class Walk:
    """One far side that was walked to and back from."""

    home: Path
    far: Path
    run: str
    said_there: str
    said_at_home: str

    def record(self, results: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((results / self.run / "run.json").read_text())
        return found


def _script(section: str) -> str:
    return "set -eu\n" + "".join(blocks(PAGE, section, "sh")).replace("--python 3.11", f"--python {PYTHON}")


def _said(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return " ".join((ended.stdout + ended.stderr).split())


@pytest.fixture(scope="module")
def home(engine: object, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder, stick = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("stick")
    (folder / "air.yaml").write_text(blocks(PAGE, "At home", "yaml")[0])
    environment = os.environ | {
        "PATH": f"{BIN}:{PATH}", "XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data"),
        "ORCHESTRATOR_BASE_IMAGE": base_image, "COLUMNS": "200",
    }  # fmt: skip
    begun = Home(folder, stick / "air", environment, "")
    begun.walk("At home", stick)
    (run,) = (path.parent.name for path in folder.glob("results/*/run.json"))
    return Home(folder, stick / "air", environment, run)


def _walked(home: Home, far: FarSide, stick: Path, path: Path, script: str) -> Walk:
    """Carry the bundle, walk the page's far side with what is in `path` before all else, and come home."""
    shutil.copytree(home.bundle, stick / "air", copy_function=os.link)
    environment = far.environment(STICK=str(stick), ORCHESTRATOR_IDLE_WAIT="0", COLUMNS="200", PATH=f"{path}:{PATH}")
    there = _said(far.run("sh", "-c", script, environment=environment))
    (run,) = (found.parent.name for found in far.home.glob("bench/results/*/run.json"))
    at_home = home.walk("Home again", stick) + home.walk("The file of results", stick)
    return Walk(home.folder / "results", far.home / "bench" / "results", run, there, at_home)


@pytest.fixture(scope="module")
def walk(home: Home, empty_far_of_module: FarSide, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    tools = tmp_path_factory.mktemp("tools")
    (tools / "python3").symlink_to(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    stick = tmp_path_factory.mktemp("stick-of-one")
    return _walked(home, empty_far_of_module, stick, tools, _script("On the other side"))


def _statuses(results: Path, run: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (results / run).glob("*/lenet-*/*/outcome.json"):
        found.setdefault(path.parents[2].name, set()).add(json.loads(path.read_text())["status"])
    return found


def _files(folder: Path) -> dict[str, bytes]:
    marks = {".lock", MERGED}
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file() and path.name not in marks}
    return {str(name): path.read_bytes() for name, path in paths.items() if name.parts[0] != "report"}


def test_gpu_image_is_bundled_without_a_gpu(home: Home) -> None:
    """A GPU image is in the bundle though no host has a GPU."""
    manifest = json.loads((home.bundle / "manifest.json").read_text())

    assert {image["name"] for image in manifest["images"]} == {
        "bench/mxnet:1.9.1-cpu", "bench/keras-mxnet:2.2.4.3-on-mxnet-1.5.1-cpu", "bench/noop:1-1_gpu",
    }  # fmt: skip


def test_frameworks_did_the_same_work_far_away(walk: Walk) -> None:
    """Two frameworks ran on the far engine and were found to do the same work."""
    assert _statuses(walk.far, walk.run) == AS_PLANNED
    record = walk.record(walk.far)
    assert (record["bundle"]["name"], record["runtime"]) == ("air", "docker")
    assert "Parity: all 2 cells do the same work" in walk.said_there


def test_it_was_installed_from_the_bundle_alone(walk: Walk) -> None:
    command = (walk.far.parents[1] / ".local" / "bin" / "orchestrator").read_text()

    assert "installed from the bundle air" in command
    assert "images loaded, 0 were there already" in walk.said_there
    assert "0 images loaded, 3 were there already" in walk.said_there, "a second load is a no-op"


def test_far_plan_and_images_are_those_of_home(walk: Walk, home: Home) -> None:
    def images(results: Path, run: str) -> dict[str, str]:
        entries = json.loads((results / run / "environments.json").read_text())["environments"]
        return {entry["image"]: entry["image_id"] for entry in entries}

    assert walk.record(walk.far)["plan"] == json.loads((walk.home / home.own_run / "run.json").read_text())["plan"]
    assert images(walk.far, walk.run) == images(walk.home, home.own_run)


def test_what_came_home_is_what_was_measured_there(walk: Walk) -> None:
    assert _files(walk.home / walk.run) == _files(walk.far / walk.run)
    assert f"{walk.run}/run.json" in walk.said_at_home


def test_report_at_home_shows_runs_side_by_side(walk: Walk, home: Home) -> None:
    assert home.own_run in walk.said_at_home
    assert walk.run in walk.said_at_home
    assert "compares hosts, not frameworks" in walk.said_at_home
    assert f"{walk.run}/report/index.html" in (walk.home / "side-by-side" / "index.html").read_text()


def test_without_python_the_same_commands_do_the_same(
    home: Home, empty_far: FarSide, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tools = tmp_path_factory.mktemp("no-python")
    for name in ("python", "python3", *(f"python3.{minor}" for minor in range(6, 16))):
        (tools / name).write_text(NO_PYTHON)
        (tools / name).chmod(0o755)
    script = _script("On the other side").replace('install.sh"', 'install.sh" --container')
    assert "--container" in script

    walk = _walked(home, empty_far, tmp_path_factory.mktemp("stick-of-another"), tools, script)

    assert not (empty_far.home / "python-was-called").exists()
    assert _statuses(walk.far, walk.run) == AS_PLANNED
    assert _files(walk.home / walk.run) == _files(walk.far / walk.run)
    assert {path.stat().st_uid for path in walk.far.rglob("*")} == {os.getuid()}
    assert walk.record(walk.home)["host"]["hostname"] == platform.node()
