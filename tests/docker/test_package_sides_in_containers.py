"""`regress` on a real engine with two releases of a package, which slow a model and a script of one framework."""

from pathlib import Path
from typing import Any

import docker
import pytest
from tiny_releases import fresh_name, wheel
from whole_command import ONCE, orchestrator

from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PACKAGE = fresh_name("side")
STEP_S = {"1.0": 0.01, "1.1": 0.02}
"""It is slept, so that a busy host does not move it."""
MATRIX = f"""\
version: 1
systems: {{cpu: {{cpus: 1, memory: 512m}}}}
frameworks: [{{name: noop, version: "1", packages: {{{PACKAGE}: "1.0"}}}}]
models: [lenet]
scripts:
  - name: sleepy
    file: sleepy.py
    metrics: {{step: {{pattern: 'step (\\S+) ms', unit: ms, better: lower}}}}
parity: false
steps: 10
warmup_steps: 2
build: {{find_links: [wheels]}}
"""
SCRIPT = f"""\
import importlib.metadata
import time

step_s = {STEP_S}[importlib.metadata.version("{PACKAGE}")]
for _ in range(20):
    begin = time.perf_counter()
    time.sleep(step_s)
    print("step", 1000 * (time.perf_counter() - begin), "ms")
"""


@pytest.fixture(scope="module")
def regression(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two releases of the package, in the environment of the one framework of a matrix."""
    assert engine.ping()
    folder = tmp_path_factory.mktemp("sides")
    (folder / "matrix.yaml").write_text(MATRIX)
    (folder / "sleepy.py").write_text(SCRIPT)
    _write_wheels(folder / "wheels")
    ended = orchestrator(
        folder, base_image, "regress", "--baseline", f"{PACKAGE}==1.0", "--candidate", f"{PACKAGE}==1.1",
        "--runtime", "docker", "--repeats", "4", "--idle-wait", "0", "--json", *ONCE,
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    return data_of(ended.stdout)


def _write_wheels(folder: Path) -> None:
    folder.mkdir()
    for version, step_s in STEP_S.items():
        name = f"{PACKAGE.replace('-', '_')}-{version}-py3-none-any.whl"
        (folder / name).write_bytes(wheel(PACKAGE, version, step_s))


@pytest.mark.parametrize(
    ("cell", "name"), [("cpu/lenet-train-b200", "throughput"), ("cpu/sleepy-script", "printed.step")]
)
def test_slower_package_is_found(regression: Any, cell: str, name: str) -> None:
    """A model and a script are as much slower as the package makes them, on fresh blocks too."""
    pair = next(each for each in regression["pairs"] if each["id"] == cell)
    judged = next(each for each in pair["metrics"] if each["metric"] == name)

    assert (judged["verdict"], judged["confirmation"]["confirmed"]) == ("slower", True), judged
    assert max(judged["ratio"], 1 / judged["ratio"]) == pytest.approx(2, rel=0.2)


def test_package_is_named_with_its_framework(regression: Any) -> None:
    """The report names the package, the framework that stays, and nothing else that moved."""
    assert [regression[side]["label"] for side in ("baseline", "candidate")] == [
        f"{PACKAGE} 1.0 in noop 1",
        f"{PACKAGE} 1.1 in noop 1",
    ]
    assert regression["moved"] == [{"name": PACKAGE, "baseline": "1.0", "candidate": "1.1"}]
