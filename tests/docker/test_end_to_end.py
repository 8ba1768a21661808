"""The main job with a real engine: the default matrix, in containers, to a report."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import docker
import pytest
from whole_command import ONCE, orchestrator

from tests.envelopes import data_of

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.docker
RUN = ("run", "--runtime", "auto", "--repeats", "1", "--json", *ONCE)


def _statuses(report: dict[str, Any]) -> dict[str, list[str]]:
    return {cell["cell"]["id"]: [repeat["outcome"]["status"] for repeat in cell["repeats"]] for cell in report["cells"]}


@pytest.fixture(scope="module")
def default_run(
    engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The default matrix, one repeat, in containers, without parity, and on one CPU beside the other tests."""
    folder = tmp_path_factory.mktemp("default")
    text = (ROOT / "matrix.yaml").read_text()
    assert "cpu: {cpus: 2," in text
    (folder / "matrix.yaml").write_text(text.replace("cpu: {cpus: 2,", "cpu: {cpus: 1,"))
    return folder, orchestrator(folder, base_image, *RUN, "--no-parity")


def test_default_matrix_ends_ok_in_every_framework(
    default_run: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """The default matrix ends ok in containers for every framework."""
    _, ended = default_run

    assert ended.returncode == 0, ended.stderr
    report = data_of(ended.stdout)
    assert report["runtime"] == "docker", ended.stderr
    statuses = _statuses(report)
    frameworks = {cell_id.split("-cpu/")[0] for cell_id in statuses}
    assert frameworks >= {
        "mxnet-1.5.1", "mxnet-1.9.1", "tensorflow-2.21.0", "torch-2.13.0", "keras-mxnet-2.2.4.3-on-mxnet-1.5.1",
    }  # fmt: skip
    assert set(map(tuple, statuses.values())) == {("ok",)}


@pytest.mark.slow
def test_default_matrix_does_the_same_work(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    assert engine.ping()
    ended = orchestrator(tmp_path, base_image, *RUN, "-f", str(ROOT / "matrix.yaml"))

    assert ended.returncode == 0, ended.stderr
    report = data_of(ended.stdout)
    assert {check["status"] for check in report["checks"]} == {"ok"}
    verdicts = [verdict for group in report["groups"] for row in group["parity"] for verdict in row if verdict]
    assert {verdict["work"] for verdict in verdicts} == {"same work"}


def test_every_framework_trained_the_same_model_and_learned(
    default_run: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, ended = default_run
    results = [json.loads(path.read_text()) for path in (folder / "results").glob("*/*/lenet-*/0/result.json")]

    assert len(results) == 5, ended.stderr
    assert {result["model"]["parameters"] for result in results} == {60170}
    for result in results:
        assert result["loss"]["last"] < 0.5 * result["loss"]["first"], result["cell"]


def test_run_leaves_own_results_and_no_container(
    default_run: tuple[Path, subprocess.CompletedProcess[str]], engine: docker.DockerClient
) -> None:
    """Results belong to the invoking user, and no container is left."""
    folder, _ = default_run
    (run,) = (folder / "results").iterdir()

    assert {path.stat().st_uid for path in run.rglob("*")} == {os.getuid()}
    assert engine.containers.list(all=True, filters={"label": f"bench.run={run.name}"}) == []


def test_an_image_works_by_hand(
    default_run: tuple[Path, subprocess.CompletedProcess[str]], engine: docker.DockerClient
) -> None:
    _, ended = default_run
    assert ended.returncode == 0, ended.stderr

    said = engine.containers.run("bench/mxnet:1.9.1-cpu", ["lenet", "--batch-size", "200"], remove=True).decode()

    assert "samples/s" in said


def test_gpu_system_without_gpus_ends_as_no_device(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """A GPU system gives GPU Dockerfiles and no_device outcomes."""
    (tmp_path / "matrix.yaml").write_text(
        "version: 1\nsystems: {64_gpu: {gpus: 64}}\nframeworks: [mxnet==1.9.1, torch==2.13.0]\nmodels: [lenet]\n"
    )

    rendered = orchestrator(tmp_path, base_image, "build", "--render", "dockerfiles")
    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--json")

    assert rendered.returncode == 0, rendered.stderr
    texts = {path.name: path.read_text() for path in (tmp_path / "dockerfiles").iterdir()}
    (mxnet,) = (text for name, text in texts.items() if "mxnet" in name)
    assert "mxnet-cu112" in mxnet
    assert "nvidia-cudnn-cu11" in mxnet
    assert "nvidia/cuda:" not in mxnet
    assert ended.returncode == 0, ended.stderr
    assert set(map(tuple, _statuses(data_of(ended.stdout)).values())) == {("no_device",) * 3}
    assert "has 0" in ended.stdout or "no GPU" in ended.stdout
    assert engine.images.list("bench/mxnet:1.9.1-64_gpu") == [], "nothing is built for cells that cannot run here"


def test_a_failed_image_is_named_once(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    assert engine.ping()
    base = base_image.format(python="3.11")
    (tmp_path / "Dockerfile").write_text(f"FROM {base}\nRUN echo this cannot work >&2; exit 3\n")
    (tmp_path / "matrix.yaml").write_text(
        "version: 1\nframeworks:\n  - {name: noop, version: '1', dockerfile: Dockerfile}\nmodels: [mlp]\n"
    )

    ended = orchestrator(tmp_path, base_image, "build", "--logs", "logs")

    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.splitlines()[-1] == "0 of 1 images are ready; logs: logs"
    failed = [line for line in ended.stderr.splitlines() if "this cannot work" in line]
    assert [line.partition("noop")[0] for line in failed] == ["build failed: bench/"], ended.stderr
