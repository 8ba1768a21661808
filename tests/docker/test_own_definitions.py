"""Frameworks' own definitions of a model in containers: as the page has them, and wrong ones that must be caught."""

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker
import pytest
from whole_command import ONCE, orchestrator

from orchestrator.reporting.formats import formats_of
from orchestrator.reporting.reports.run import RUN
from tests.documented import blocks
from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]
(MODEL,) = blocks("models.md", "A model of your own", "python")
(MATRIX,) = blocks("models.md", "A model of your own", "yaml")
IN_MXNET, IN_TORCH = blocks("models.md", "A framework's own definition", "python")
SYSTEM = "systems: {cpu: {cpus: 1}}\n"
COPIES = (
    'layer.weight.copy_(torch.from_numpy(drawn[name + ".weight"].T))',
    'layer.bias.copy_(torch.from_numpy(drawn[name + ".bias"]))',
)
INTO_PARTS = (
    'layer.weight[: drawn[name + ".bias"].size, : len(drawn[name + ".weight"])] = torch.from_numpy(drawn[name + ".weight"].T)',  # noqa: E501 -- a line of a file
    'layer.bias[: drawn[name + ".bias"].size] = torch.from_numpy(drawn[name + ".bias"])',
)
ONE_MORE = (
    ("Linear(64, 256)", "Linear(64, 257)"),
    ("Linear(256, 10)", "Linear(257, 10)"),
    *zip(COPIES, INTO_PARTS, strict=True),
)
COUNTED = ("sum(each.numel() for each in self.network.parameters())", "19210")
ASKED = (("def native_layers(", "def _native_layers("), ("def weights(", "def _weights("))
WRONG: dict[str, Sequence[tuple[str, str]]] = {
    "more": ONE_MORE,
    "hiding": (*ONE_MORE, COUNTED),
    "mute": ASKED,
    "mute_and_wrong": (*ASKED, ("torch.nn.ReLU(inplace=True)", "torch.nn.Tanh()")),
    "faster": (('settings["learning_rate"]', '2 * settings["learning_rate"]'),),
    "without_momentum": (("momentum=momentum", "momentum=0.0"),),
}


def run(folder: Path, base_image: str) -> tuple[int, dict[str, Any]]:
    """Run the matrix of a folder, with parity, and give its report."""
    ended = orchestrator(folder, base_image, "run", "--runtime", "docker", "--json", "--repeats", "1", *ONCE)
    assert ended.returncode in {0, 1}, ended.stderr[-2000:]
    report: dict[str, Any] = data_of(ended.stdout)
    return ended.returncode, report


def changed(text: str, changes: Sequence[tuple[str, str]]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_own_definitions_do_the_same_work(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """The page runs the own definitions of both frameworks, and they do the same work."""
    own = tmp_path / "my_models" / "wide"
    own.mkdir(parents=True)
    own.with_suffix(".py").write_text(MODEL)
    (own / "mxnet.py").write_text(IN_MXNET)
    (own / "torch.py").write_text(IN_TORCH)
    (tmp_path / "matrix.yaml").write_text(MATRIX + SYSTEM)

    code, report = run(tmp_path, base_image)

    assert code == 0, report["problems"]
    (folder,) = (tmp_path / "results").iterdir()
    facts = {
        path.parts[-3]: json.loads(path.read_text())["facts"]["definition_sha256"]
        for path in folder.glob("mxnet-*/*/0/result.json")
    }
    assert facts == {
        "wide-train-b64-definition=own": sha256(IN_MXNET),
        "wide-train-b64-dataset=digits-definition=own": sha256(IN_MXNET),
        "lenet-train-b200": None,
    }
    (one,) = folder.glob("torch-*/wide-train-b64-definition=own/0")
    assert (one / "definition.py").read_text() == IN_TORCH
    assert json.loads((one / "result.json").read_text())["facts"]["definition_sha256"] == sha256(IN_TORCH)
    assert (folder / "models" / "wide" / "mxnet.py").read_text() == IN_MXNET

    wide = [group for group in report["groups"] if group["workload"]["model"] == "wide"]
    assert len(wide) == 2
    for group in wide:
        assert {place["label"] for place in group["places"]} == {
            "mxnet 1.9.1 · own definition", "torch 2.13.0 · own definition"
        }  # fmt: skip
        assert {verdict["work"] for row in group["parity"] for verdict in row if verdict} == {"same work"}
    learned = [json.loads(path.read_text())["epochs"] for path in folder.glob("*/wide-*digits*/0/result.json")]
    assert [len(epochs) for epochs in learned] == [5, 5]
    assert all(epochs[-1]["test_accuracy"] > 0.9 for epochs in learned), learned
    for form in formats_of(RUN):
        out = tmp_path / f"report-{form}"
        ended = orchestrator(tmp_path, base_image, "report", "--format", form, "-o", str(out))
        assert ended.returncode == 0, ended.stderr
        said = "".join(path.read_text() for path in (out.rglob("*.html") if out.is_dir() else [out]))
        assert "own definition" in said or "definition=own" in said, form
    rows = csv.DictReader((tmp_path / "report-csv").read_text().splitlines())
    assert {row["definition"] for row in rows if row["model"] == "wide"} == {sha256(IN_MXNET), sha256(IN_TORCH)}


def test_wrong_definition_is_caught(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A wrong definition is caught, and one that cannot be asked is not comparable."""
    for name, changes in WRONG.items():
        (tmp_path / "mine" / name).mkdir(parents=True)
        (tmp_path / "mine" / f"{name}.py").write_text(MODEL)
        (tmp_path / "mine" / name / "torch.py").write_text(changed(IN_TORCH, changes))
    frameworks = "frameworks: [mxnet==1.9.1, torch==2.13.0]\nsteps: 1\n"
    models = f"models_folder: mine\nmodels: [{', '.join(WRONG)}]\n"
    (tmp_path / "matrix.yaml").write_text(f"version: 1\n{frameworks}{models}{SYSTEM}")

    code, report = run(tmp_path, base_image)

    assert code == 1
    (problem,) = report["problems"]
    assert (problem["status"], problem["reason"]) == (
        "failed", "the framework made 19285 parameters of a model that has 19210"
    )  # fmt: skip
    assert [cell["cell_id"] for cell in problem["cells"]] == ["torch-2.13.0-cpu/more-train-b64-definition=own"]
    verdicts = {
        group["workload"]["model"]: verdict
        for group in report["groups"]
        for row in group["parity"]
        for verdict in row
        if verdict
    }
    assert {verdict["work"] for verdict in verdicts.values()} == {"not comparable"}
    reasons = {name: verdict["reason"] for name, verdict in verdicts.items()}
    own = "torch 2.13.0 · own definition"
    assert reasons["hiding"] == f"dense_1 yields 257 in {own}, 256 in the model's definition"
    assert reasons["mute"] == f"{own} without native_layers, weights"
    assert reasons["mute_and_wrong"].startswith("first loss ")
    assert reasons["faster"].startswith("first gradient of ")
    assert reasons["without_momentum"].startswith("3 steps of sgd from its rule, on dense_")
