"""Parity in a real run: frameworks that agree do the same work, and planted models that are not equal are caught.

What is planted lies in images of the user's own: PyTorch as it is, whose model, weights or padding are changed as soon
as Python starts. The names of everything stay the same, as they would with a real fault.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest
from whole_command import ONCE, orchestrator

from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]

MODEL = """\
TITLE = "A bit of everything"
INPUT_SHAPE = (1, 8, 8)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 512
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):
    x = net.input(*INPUT_SHAPE)
    x = net.conv2d(x, 6, 3, padding="same", bias=False)
    x = net.relu(net.batch_norm(x))
    x = net.flatten(net.average_pool(x, 2))
    return net.dense(net.dropout(x, 0.25), CLASSES)
"""
HEAD = """\
from benchmarks.vocabulary import layers, weights

conv2d, initial = layers.Net.conv2d, weights.initial
"""
PLANTED = {
    "filter": """
layers.Net.conv2d = lambda net, x, filters, *rest, **named: conv2d(net, x, filters + 1, *rest, **named)
""",
    "norm": """
layers.Net.batch_norm = lambda net, x: x
""",
    "padding": """
def shifted(net, *arguments, **named):
    value = conv2d(net, *arguments, **named)
    net.layers[-1] = net.layers[-1]._replace(settings=dict(net.layers[-1].settings, pads=(2, 0, 2, 0)))
    return value

layers.Net.conv2d = shifted
""",
    "initial": """
weights.initial = lambda layers, seed: initial(layers, seed + 1)
""",
    "dropout": """
import torch

torch.nn.Dropout = lambda rate: torch.nn.Identity()
""",
}


@dataclass(frozen=True)
class Ran:
    """A run that has ended, its report, and what it printed."""

    report: dict[str, Any]
    said: str
    folder: Path

    @property
    def group(self) -> dict[str, Any]:
        (group,) = self.report["groups"]
        found: dict[str, Any] = group
        return found

    def verdict(self, one: str, other: str) -> dict[str, Any]:
        """Of two cells by their labels."""
        places = [place["label"] for place in self.group["places"] if place["parity"] or place["rank"]]
        found: dict[str, Any] = self.group["parity"][places.index(one)][places.index(other)]
        return found


def plant(folder: Path, image: str, name: str) -> None:
    """Lay down the Dockerfile of an image in which something is changed as soon as Python starts."""
    (folder / name).mkdir()
    (folder / name / "sitecustomize.py").write_text(HEAD + PLANTED[name])
    (folder / name / "Dockerfile").write_text(
        f"FROM {image}\nCOPY sitecustomize.py /planted/\nENV PYTHONPATH=/planted:/opt/bench\n"
    )


@pytest.fixture(scope="module")
def ran(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """MXNet and PyTorch as they are beside five PyTorches with something planted."""
    folder = tmp_path_factory.mktemp("parity")
    (folder / "models").mkdir()
    (folder / "models" / "bit.py").write_text(MODEL)
    common = "version: 1\nsystems: {cpu: {cpus: 1, memory: 4g}}\nmodels_folder: models\nmodels: [bit]\nrepeats: 1\n"
    (folder / "build.yaml").write_text(f"{common}frameworks: [torch==2.13.0]\n")
    built = orchestrator(folder, base_image, "build", "-f", "build.yaml", "--json")
    assert built.returncode == 0, built.stderr
    image = data_of(built.stdout)[0]["reference"]
    entries = ["torch==2.13.0", "mxnet==1.9.1"]
    for name in PLANTED:
        plant(folder, image, name)
        entries.append(f"{{name: torch, version: {name}, dockerfile: {name}/Dockerfile}}")
    listed = "".join(f"  - {entry}\n" for entry in entries)
    (folder / "matrix.yaml").write_text(f"{common}steps: 1\nwarmup_steps: 1\nframeworks:\n{listed}")
    ended = orchestrator(folder, base_image, "run", "--runtime", "docker", "--json", *ONCE)
    assert ended.returncode == 0, ended.stderr
    (run,) = (folder / "results").iterdir()
    return Ran(data_of(ended.stdout), ended.stderr, run)


def test_frameworks_whose_models_agree_do_the_same_work(ran: Ran) -> None:
    found = ran.verdict("torch 2.13.0", "mxnet 1.9.1")

    assert (found["work"], found["reason"]) == ("same work", ""), ran.report["checks"]
    assert {each["evidence"] for each in found["differences"]} == {
        "weights",
        "first_loss",
        "gradients",
        "losses",
        "optimizer",
    }
    assert any(each["value"] > 0 for each in found["differences"]), "two frameworks never round all alike"


@pytest.mark.parametrize(
    ("planted", "reason"),
    [
        ("filter", "conv2d_1 yields"),
        ("norm", "batch_norm_1 is in mxnet 1.9.1 only"),
        ("padding", "first loss "),
        ("initial", "initial values of "),
        ("dropout", "torch dropout drops nothing in dropout_1, whose rate is 0.25: "),
    ],
)
def test_planted_model_fails_for_the_right_reason(planted: str, reason: str, ran: Ran) -> None:
    """A planted model that is not equal is not comparable for the right reason."""
    for right in ("torch 2.13.0", "mxnet 1.9.1"):
        found = ran.verdict(right, f"torch {planted}")
        assert found["work"] == "not comparable"
        assert found["reason"].startswith(reason.replace("mxnet 1.9.1", right)), found["reason"]


def test_planted_model_is_shown_without_a_rank(ran: Ran) -> None:
    """A planted model is shown, has no rank and does not win."""
    places = {place["label"]: place for place in ran.group["places"]}

    assert {label for label, place in places.items() if place["rank"]} == {"torch 2.13.0", "mxnet 1.9.1"}
    for name in PLANTED:
        assert places[f"torch {name}"]["to_best"]["verdict"] == "not comparable"
    table = orchestrator(ran.folder, "", "report", "--results", str(ran.folder.parent), "--format", "md").stdout
    assert "torch norm and" in table
    assert "are not comparable: batch\\_norm_1 is in" in table or "are not comparable: batch_norm_1 is in" in table


def test_stored_check_is_not_made_again(ran: Ran, base_image: str) -> None:
    """Every check is stored with its log and is not made again."""
    checks = {check["check"]: check for check in ran.report["checks"]}

    assert len(checks) == 7
    assert {check["status"] for check in checks.values()} == {"ok"}
    assert all((ran.folder / check["log"]).is_file() for check in checks.values())
    before = {path: path.stat().st_mtime_ns for path in (ran.folder / "parity").rglob("result.json")}
    again = orchestrator(
        ran.folder.parents[1], base_image, "run", "--resume", ran.folder.name, "--results", str(ran.folder.parent)
    )
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in (ran.folder / "parity").rglob("result.json")} == before


OTHERS = {
    "tensorflow": "tensorflow==2.21.0",
    "jax": "jax==0.12.0.1",
    "keras-mxnet": "keras-mxnet==2.2.4.3 on mxnet==1.5.1",
}


@pytest.mark.parametrize(
    "name", [name if name == "keras-mxnet" else pytest.param(name, marks=pytest.mark.slow) for name in OTHERS]
)
def test_every_other_builder_catches_a_planted_model(
    name: str, engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """One fault each, where PyTorch has had them all: what matters is whose native layers are asked."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "bit.py").write_text(MODEL)
    common = "version: 1\nsystems: {cpu: {cpus: 1, memory: 4g}}\nmodels_folder: models\nmodels: [bit]\nrepeats: 1\n"
    (tmp_path / "build.yaml").write_text(f"{common}frameworks: [{OTHERS[name]}]\n")
    built = orchestrator(tmp_path, base_image, "build", "-f", "build.yaml", "--json")
    assert built.returncode == 0, built.stderr
    plant(tmp_path, data_of(built.stdout)[0]["reference"], "filter")
    entries = f"[{OTHERS[name]}, {{name: {name}, version: filter, dockerfile: filter/Dockerfile}}]"
    (tmp_path / "matrix.yaml").write_text(f"{common}steps: 1\nwarmup_steps: 1\nframeworks: {entries}\n")
    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr
    (group,) = data_of(ended.stdout)["groups"]
    (verdict,) = [found for row in group["parity"] for found in row if found and found["work"] == "not comparable"][:1]
    assert verdict["reason"].startswith("conv2d_1 yields"), verdict["reason"]
