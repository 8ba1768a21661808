"""`regress` with a real engine: a slowdown of a known size is found, a release against itself is left in peace."""

import json
from pathlib import Path
from typing import Any

import docker
import pytest
from whole_command import orchestrator

from tests.envelopes import data_of

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "bench" / "planted"
pytestmark = pytest.mark.docker

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 1g}}
frameworks:
- {name: noop, version: [steady], dockerfile: steady/Dockerfile}
- {name: noop, version: [waiting], dockerfile: waiting/Dockerfile}
models: [lenet]
steps: 20
"""


@pytest.fixture(scope="module")
def site(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix with two images on a clock of their own; one waits after each block, for 5 % of its time."""
    del engine
    folder = tmp_path_factory.mktemp("regress")
    for name, wait in (("steady", "0"), ("waiting", "0.05")):
        (folder / name).mkdir()
        (folder / name / "sitecustomize.py").write_bytes((PLANTED / "sitecustomize.py").read_bytes())
        (folder / name / "Dockerfile").write_text(
            f"FROM bench/noop:1-cpu\nCOPY sitecustomize.py /opt/planted/\n"
            f"ENV PYTHONPATH=/opt/planted PLANTED_STEP_S=0.005 PLANTED_WAIT={wait}\n"
        )
    (folder / "matrix.yaml").write_text(MATRIX)
    (folder / "noop.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [lenet]\n")
    built = orchestrator(folder, base_image, "build", "-f", "noop.yaml")
    assert built.returncode == 0, built.stderr
    return folder


def _throughput(found: dict[str, Any]) -> dict[str, Any]:
    (pair,) = found["pairs"]
    return next(metric for metric in pair["metrics"] if metric["metric"] == "throughput")


def test_waiting_candidate_is_slower_by_its_wait(site: Path, base_image: str) -> None:
    """A candidate that waits after each block is slower by what it waits."""
    ended = orchestrator(
        site, base_image, "regress", "--baseline", "noop==steady", "--candidate", "noop==waiting",
        "--runtime", "docker", "--until-precise", "--json",
    )  # fmt: skip

    assert ended.returncode == 1, ended.stderr
    found = data_of(ended.stdout)
    judged = _throughput(found)
    assert (judged["verdict"], judged["confirmation"]["confirmed"]) == ("slower", True), judged
    assert judged["low"] <= 1 / 1.05 <= judged["high"], judged
    run = site / "results" / found["run"]
    assert json.loads((run / "regression.json").read_text()) == found
    assert "is worse than" in (run / "regression" / "index.html").read_text()


def test_image_compared_with_itself_is_the_same(site: Path, base_image: str) -> None:
    """An image compared with itself is the same and raises no alarm."""
    ended = orchestrator(
        site, base_image, "regress", "--baseline", "noop==steady", "--candidate", "noop==steady",
        "--runtime", "docker", "--until-precise", "--json",
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    judged = _throughput(data_of(ended.stdout))
    assert judged["verdict"] == "same", judged
    assert judged["low"] <= 1 <= judged["high"], judged
