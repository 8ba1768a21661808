"""Parity of Keras on CNTK and Theano, which are asked in their images alone.

CNTK needs links in the file system, and Theano a folder for what it compiles; the virtual environments of
`tests/container` have neither.
"""

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
frameworks: [torch==2.13.0, keras==2.3.1 on cntk==2.7, keras==2.3.1 on theano==1.0.5]
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
"""
BACKENDS = {
    "lenet": {"cntk", "theano"},
    "small_lstm": {"cntk", "theano"},
    "hierarchical_rnn": {"cntk"},
}
"""Those that are asked of each model."""


@pytest.fixture(scope="module")
def report(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Keras on both beside PyTorch, in one run."""
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
