"""A smoke run in real containers, from the command to its report."""

import json
import subprocess
from pathlib import Path

import docker
import pytest
from whole_command import ONCE, orchestrator

from orchestrator.engine.images import plain
from tests.documented import blocks
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
(WIDE,) = blocks("models.md", "A model of your own", "python")
MATRIX = """\
version: 1
frameworks: [noop==1]
models_folder: mine
models: [lenet, {name: wide, epochs: 4}]
repeats: 2
systems: {cpu: {cpus: 1}}
"""


@pytest.fixture(scope="module")
def quick_run(
    engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Two models, one of them with a smoke run of its own, in containers."""
    assert engine.ping()
    folder = tmp_path_factory.mktemp("quick")
    (folder / "mine").mkdir()
    quick = 'QUICK = {"batch_size": 4, "repeats": 1}'
    (folder / "mine/wide.py").write_text(WIDE.replace("CLASSES", f"{quick}\nCLASSES", 1))
    (folder / "matrix.yaml").write_text(MATRIX)
    return folder, orchestrator(folder, base_image, "run", "--runtime", "docker", "--quick", "--json", *ONCE)


def test_containers_measure_what_the_profile_says(quick_run: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, ended = quick_run
    assert ended.returncode == 0, ended.stderr
    paths = list((folder / "results").rglob("result.json"))
    results = {path.parent.parent.name: json.loads(path.read_text()) for path in paths}

    assert {name: (len(each["blocks"]), len(each["latency_s"])) for name, each in results.items()} == {
        "lenet-train-b200": (5, 5),
        "wide-train-b4": (5, 5),
    }
    assert len(paths) == 3, "two repeats and, as its file says, one"
    report = data_of(ended.stdout)
    assert report["profile"]["title"] == "smoke run"
    assert report["warnings"][0].startswith("smoke run: 1 warm-up step, 5 blocks")


def test_a_resumed_run_keeps_its_profile(
    quick_run: tuple[Path, subprocess.CompletedProcess[str]], base_image: str
) -> None:
    folder, _ = quick_run
    (outcome,) = (folder / "results").glob("*/*/wide-train-b4/0/outcome.json")
    outcome.unlink()

    ended = orchestrator(folder, base_image, "run", "--resume", "latest", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr
    assert data_of(ended.stdout)["profile"]["name"] == "quick"
    request = json.loads((outcome.parent / "request.json").read_text())
    assert (request["min_blocks"], request["latency_steps"], request["steps"], request["epochs"]) == (5, 5, 5, None)


TWO_PYTHONS = """\
version: 1
frameworks: [{name: noop, version: 1, python: ["3.9", "3.10"]}]
models: [mlp]
repeats: 2
systems: {cpu: {cpus: 1}}
"""


def _there(engine: docker.DockerClient, references: list[str]) -> list[str]:
    tags = {tag for image in engine.images.list() for tag in plain(image.tags)}
    return [reference for reference in references if reference in tags]


def test_images_go_after_their_last_cell(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(TWO_PYTHONS)
    options = ("--runtime", "docker", "--prune-images", "--json", *ONCE)

    ended = orchestrator(tmp_path, base_image, "run", "--quick", *options)

    assert ended.returncode == 0, ended.stderr
    events = [json.loads(line) for line in ended.stderr.splitlines()]
    removals = [place for place, event in enumerate(events) if "no cell is left for" in event.get("message", "")]
    ends = [place for place, event in enumerate(events) if event["event"] == "repeat_finished"]
    assert len(removals) == 2
    assert ends[-2] < removals[0], "the second repeat of the first of them is the last but one"
    (record,) = (tmp_path / "results").glob("*/environments.json")
    references = [entry["reference"] for entry in json.loads(record.read_text())["environments"]]
    assert (len(references), _there(engine, references)) == (2, [])
    assert _there(engine, [base_image.format(python=python) for python in ("3.9", "3.10")])

    (outcome,) = (tmp_path / "results").glob("*/noop-1-python=3.9-cpu/mlp-train-b32/1/outcome.json")
    outcome.unlink()
    again = orchestrator(tmp_path, base_image, "run", "--resume", "latest", *options)

    assert again.returncode == 0, again.stderr
    assert (outcome.exists(), _there(engine, references)) == (True, [])


def test_no_verdict_comes_of_it(quick_run: tuple[Path, subprocess.CompletedProcess[str]], base_image: str) -> None:
    folder, _ = quick_run
    (run,) = (path.name for path in (folder / "results").iterdir() if (path / "run.json").exists())

    ended = orchestrator(folder, base_image, "compare", f"{run}:noop==1", run)

    assert ended.returncode == 2
    assert f"{run} is a smoke run, whose figures prove nothing" in ended.stderr
