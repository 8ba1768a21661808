"""The page of Hugging Face configurations, followed with PyTorch and Transformers in containers without a network."""

import shlex
from pathlib import Path

import docker
import pytest
from whole_command import ONCE, orchestrator

from tests.documented import blocks
from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.frameworks, pytest.mark.slow]
PAGE = "hugging_face.md"


@pytest.fixture(scope="module")
def page(engine: docker.DockerClient, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page."""
    assert engine.ping()
    folder = tmp_path_factory.mktemp("page")
    (folder / "scripts").mkdir()
    (folder / "scripts/configuration.py").write_text(blocks(PAGE, "The script", "python")[0])
    (folder / "matrix.yaml").write_text(blocks(PAGE, "The matrix", "yaml")[0])
    return folder


def test_every_configuration_trains(page: Path, base_image: str) -> None:
    ended = orchestrator(page, base_image, "run", "--runtime", "docker", "--repeats", "1", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr
    printed = {cell["cell"]["workload"]["model"]: cell["printed"] for cell in data_of(ended.stdout)["cells"]}
    assert {script: [each["name"] for each in figures] for script, figures in printed.items()} == {
        "bert": ["step", "build", "import", "loss"],
        "roberta": ["step"],
    }


def test_two_releases_do_the_same_work(page: Path, base_image: str) -> None:
    """The command of the page ends with a verdict on every figure, and both releases end at the same loss."""
    (line,) = blocks(PAGE, "Two releases", "sh")

    few = ("--repeats", "2", "--no-confirm", "--runtime", "docker", "--json")
    ended = orchestrator(page, base_image, *shlex.split(line)[1:], *few, *ONCE)

    assert ended.returncode in {0, 1}, ended.stderr
    regression = data_of(ended.stdout)
    assert regression["baseline"]["label"] == "transformers 4.48.3 in torch 2.13.0"
    (pair,) = regression["pairs"]
    judged = {metric["metric"]: metric for metric in pair["metrics"]}
    assert list(judged) == ["printed.step", "printed.build", "printed.import", "printed.loss"]
    assert judged["printed.loss"]["ratio"] == pytest.approx(1, rel=1e-3)
