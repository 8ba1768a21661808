"""Keras on CNTK and Theano, which are asked in their images alone: parity, and what Theano has compiled before.

CNTK needs links in the file system, and Theano a folder for what it compiles; the virtual environments of
`tests/container` have neither.
"""

import json
from pathlib import Path
from typing import Any

import docker
import pytest
from whole_command import ONCE, orchestrator

from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]

SMALL_LSTM = """\
TITLE = "A small LSTM"
INPUT_SHAPE = (10, 6)
CLASSES = 5
BATCH_SIZE = 32
SAMPLES = 512
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.01}


def build(net):
    return net.dense(net.lstm(net.input(*INPUT_SHAPE), 16), CLASSES)
"""
MATRIX = """\
version: 1
systems: {cpu: {memory: 8g}}
frameworks:
  - torch==2.13.0
  - keras==2.3.1 on cntk==2.7
  - keras==2.3.1 on theano==1.0.5
  - keras==2.0.8 on theano==0.9.0
models_folder: models
models:
  - {name: lenet, batch_size: 32}
  - {name: small_lstm, batch_size: 32}
  - {name: hierarchical_rnn, batch_size: 8, parity_batch: 16}
steps: 1
warmup_steps: 1
blocks: 1
latency_steps: 0
repeats: 1
timeout: 1h
exclude:
  - {framework: keras==2.3.1 on theano==1.0.5, model: hierarchical_rnn} # it compiles that for minutes
  - {framework: keras==2.0.8 on theano==0.9.0, model: [small_lstm, hierarchical_rnn]} # it compiles them for minutes
"""
BACKENDS = {
    "lenet": {"cntk 2.7", "theano 1.0.5", "theano 0.9.0"},
    "small_lstm": {"cntk 2.7", "theano 1.0.5"},
    "hierarchical_rnn": {"cntk 2.7"},
}
"""Those that are asked of each model."""
TWICE = """\
version: 1
systems: {cpu: {memory: 8g}}
frameworks: [RELEASE]
models: [{name: lenet, batch_size: 32}]
steps: 1
warmup_steps: 1
blocks: 1
latency_steps: 0
repeats: 2
timeout: 1h
parity: false # it would compile what the first repeat is to compile
"""


@pytest.fixture(scope="module")
def report(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Keras on all of them beside PyTorch, in one run."""
    folder: Path = tmp_path_factory.mktemp("backends")
    (folder / "models").mkdir()
    (folder / "models" / "small_lstm.py").write_text(SMALL_LSTM)
    (folder / "matrix.yaml").write_text(MATRIX)
    ended = orchestrator(folder, base_image, "run", "--runtime", "docker", "--json", *ONCE)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = data_of(ended.stdout)
    return found


@pytest.mark.parametrize("model", BACKENDS)
def test_keras_does_the_work_of_pytorch(model: str, report: dict[str, Any]) -> None:
    (group,) = [each for each in report["groups"] if each["workload"]["model"] == model]

    verdicts = [found for row in group["parity"] for found in row if found]

    pairs = len(BACKENDS[model]) * (len(BACKENDS[model]) + 1)
    assert len(verdicts) == pairs, report["checks"]
    assert {(found["work"], found["reason"]) for found in verdicts} == {("same work", "")}
    assert any(each["value"] > 0 for found in verdicts for each in found["differences"]), "two never round all alike"


@pytest.mark.parametrize("release", ["keras==2.0.8 on theano==0.9.0", "keras==2.3.1 on theano==1.0.5"])
def test_later_repeats_find_what_theano_compiled(
    release: str, engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """Theano 1.0.5 compiles a few modules in every process, and is warm all the same."""
    assert engine.ping()
    (tmp_path / "matrix.yaml").write_text(TWICE.replace("RELEASE", release))

    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr
    (cell,) = tmp_path.glob("results/*/*/lenet-train-b32")
    results = [json.loads((cell / repeat / "result.json").read_text()) for repeat in "01"]
    assert [result["facts"]["compile_cache"] for result in results] == ["cold", "warm"]
    (warning,) = [text for text in data_of(ended.stdout)["warnings"] if "compile_cache: cold" in text]
    assert warning.startswith(f"{cell.parent.name}/{cell.name}: ")
