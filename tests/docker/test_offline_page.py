"""The whole way across an air gap, as docs/offline.md walks it, every command of the page in its place."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from far_support import FarSide

from tests.documented import blocks

pytestmark = pytest.mark.docker
PAGE = "offline.md"
BIN = Path(sys.executable).parent
FRAMEWORKS = ("mxnet-1.9.1", "torch-2.13.0", "noop-1")


@dataclass(frozen=True)
class Walk:
    """What the page's three sections have left behind them."""

    home: Path
    far: Path
    stick: Path
    said: Mapping[str, str]
    """By section."""


def _script(section: str) -> str:
    return "set -eu\n" + "".join(blocks(PAGE, section, "sh"))


def _walked(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def walk(empty_far_of_module: FarSide, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    far = empty_far_of_module
    home, stick = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("stick")
    (home / "air.yaml").write_text(blocks(PAGE, "At home", "yaml")[0])
    shared = {"STICK": str(stick), "ORCHESTRATOR_IDLE_WAIT": "0", "COLUMNS": "160"}
    path = f"{BIN}:{os.environ['PATH']}"
    own = {"XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}
    near = os.environ | shared | own | {"PATH": path, "ORCHESTRATOR_BASE_IMAGE": base_image}

    def at_home(section: str) -> str:
        command = ["sh", "-c", _script(section)]
        return _walked(subprocess.run(command, cwd=home, env=near, capture_output=True, text=True, check=False))

    said = {"At home": at_home("At home")}
    environment = far.environment(**shared) | {"PATH": path}
    there = far.run("sh", "-c", _script("On the other side"), environment=environment)
    said["On the other side"] = _walked(there)
    said["Home again"] = at_home("Home again") + at_home("The file of results")
    return Walk(home, far.home, stick, said)


def _runs(results: Path) -> dict[str, dict[str, Any]]:
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(results.glob("*/run.json"))}


def test_a_gpu_image_is_in_the_bundle_though_neither_host_has_a_gpu(walk: Walk) -> None:
    manifest = json.loads((walk.stick / "air" / "manifest.json").read_text())

    assert {image["name"] for image in manifest["images"]} == {
        "bench/mxnet:1.9.1-cpu", "bench/torch:2.13.0-cpu", "bench/noop:1-cpu", "bench/noop:1-1_gpu",
    }  # fmt: skip


def test_two_real_frameworks_ran_on_the_far_engine_and_were_found_to_do_the_same_work(walk: Walk) -> None:
    ((name, record),) = _runs(walk.far / "results").items()

    results = {path.parent.parent.parent.name for path in (walk.far / "results" / name).glob("*/lenet-*/*/result.json")}
    assert results == {f"{framework}-cpu" for framework in FRAMEWORKS}
    assert record["bundle"]["name"] == "air"
    assert record["runtime"] == "docker"
    assert "Parity: " in walk.said["On the other side"]
    assert "do the same work" in walk.said["On the other side"]


def test_the_plan_and_the_images_on_the_other_side_are_those_of_home(walk: Walk) -> None:
    ((far_name, far),) = _runs(walk.far / "results").items()
    home = next(record for name, record in _runs(walk.home / "results").items() if name != far_name)

    assert far["plan"] == home["plan"]
    made = [
        {entry["image"]: entry["image_id"] for entry in json.loads(path.read_text())["environments"]}
        for path in sorted((walk.home / "results").glob("*/environments.json"))
    ]
    assert len(made) == 2
    assert made[0] == made[1]


def test_at_home_are_both_runs_and_the_report_has_both_hosts(walk: Walk) -> None:
    (far_name,) = _runs(walk.far / "results")

    assert len(_runs(walk.home / "results")) == 2
    report = walk.said["Home again"]
    assert all(name in report for name in _runs(walk.home / "results"))
    assert "compares hosts, not frameworks" in report
    page = (walk.home / "results" / "side-by-side" / "index.html").read_text()
    assert f"{far_name}/report/index.html" in page


def test_what_came_home_is_what_was_measured_there(walk: Walk) -> None:
    (name,) = _runs(walk.far / "results")

    def files(results: Path) -> dict[str, bytes]:
        folder = results / name
        found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        return {
            path: at.read_bytes() for path, at in found.items() if path != ".lock" and not path.startswith("report")
        }

    assert files(walk.home / "results") == files(walk.far / "results")
    assert f"{name}/run.json" in walk.said["Home again"]
