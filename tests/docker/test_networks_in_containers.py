"""An exported network in real containers of real engines: as the same file, resumed, and across the air gap."""

import json
import subprocess
import sys
from pathlib import Path

import docker
import pytest
from far_support import FarSide
from whole_command import ONCE, orchestrator

from tests import exported
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
MATRIX = """\
version: 1
name: exported
frameworks: [{engines}]
models:
  - {{name: ours, file: ours.onnx, batch_size: 2}}
  - {{name: words, file: words.onnx, dimensions: {{length: 12}}, inputs: {{mask: {{value: 1}}}}}}
modes: [infer]
repeats: 1
systems: {{cpu: {{cpus: 1}}}}
"""
BOTH = "onnxruntime==1.20.1, openvino==2024.6.0"


def home(folder: Path, engines: str) -> Path:
    """A folder with a matrix and two networks, one of which has its tensors in a file beside it."""
    (folder / "matrix.yaml").write_text(MATRIX.format(engines=engines))
    exported.saved(exported.image_network(), folder / "ours.onnx", beside=True)
    exported.saved(exported.text_network(), folder / "words.onnx")
    return folder


@pytest.fixture(scope="module")
def measured(
    engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Both networks in one engine."""
    assert engine.ping()
    folder = home(tmp_path_factory.mktemp("exported"), "onnxruntime==1.20.1")
    return folder, orchestrator(folder, base_image, "run", "--runtime", "docker", "--quick", "--json", *ONCE)


def _answers(folder: Path, name: str) -> dict[str, dict[str, object]]:
    """The files `name` of every repeat, by the last part of its cell's id."""
    paths = (folder / "results").glob(f"*/*-cpu/*/0/{name}")
    return {path.parent.parent.name: json.loads(path.read_text()) for path in paths}


def test_an_engine_is_given_the_file_itself(measured: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, ended = measured
    assert ended.returncode == 0, ended.stderr
    requests, results = _answers(folder, "request.json"), _answers(folder, "result.json")

    assert set(results) == {"ours-infer-b2", "words-infer-b1"}
    for name, result in results.items():
        facts, asked = result["facts"], requests[name]["network"]
        assert facts["onnx"] == {"opset": 13, "sha256": asked["sha256"]}  # type: ignore[index]
        assert result["model"] == {key: asked[key] for key in ("parameters", "multiply_adds")}  # type: ignore[index]
    frozen = (folder / "results").glob("*/networks/ours/*")
    assert {path.name: path.read_bytes() for path in frozen} == {
        name: (folder / name).read_bytes() for name in ("ours.onnx", "ours.onnx.data")
    }


def test_a_resumed_run_refuses_another_file(
    measured: tuple[Path, subprocess.CompletedProcess[str]], base_image: str
) -> None:
    folder, _ = measured
    (frozen,) = (folder / "results").glob("*/networks/words/words.onnx")
    before = frozen.read_bytes()
    frozen.chmod(0o644)
    frozen.write_bytes(before + b" ")

    ended = orchestrator(folder, base_image, "run", "--resume", "latest", *ONCE)

    frozen.write_bytes(before)
    assert ended.returncode == 2
    assert "words.onnx: is not what it was when the run began" in ended.stderr


def test_engines_agree_on_reduced_and_masked_outputs(base_image: str, tmp_path: Path) -> None:
    """A file in less than float32 has the wide bar, and masked places stand beside the scores."""
    kinds = {"half": exported.half_network, "eight": exported.quantised_network, "boxes": exported.boxes_network}
    for name, network in kinds.items():
        exported.saved(network(), tmp_path / f"{name}.onnx")
    models = ", ".join(f"{{name: {name}, file: {name}.onnx}}" for name in kinds)
    rest = "modes: [infer]\nrepeats: 1\nsystems: {cpu: {cpus: 1}}\n"
    (tmp_path / "matrix.yaml").write_text(f"version: 1\nframeworks: [{BOTH}]\nmodels: [{models}]\n{rest}")

    ended = orchestrator(tmp_path, base_image, "run", "--runtime", "docker", "--quick", "--json", *ONCE)

    assert ended.returncode == 0, ended.stderr
    pairs = [group["parity"][0][1] for group in data_of(ended.stdout)["groups"]]
    assert [pair["work"] for pair in pairs] == ["same work"] * 3
    assert [pair["note"] for pair in pairs] == [
        "both in float16: held to the wide bars of reduced precision",
        "both in int8: held to the wide bars of reduced precision",
        "",
    ]
    answers = [json.loads(path.read_text()) for path in tmp_path.glob("results/*/parity/*/boxes-*/result.json")]
    assert [sorted(answer["outputs"]) for answer in answers] == [["boxes", "scores", "scores (masked places)"]] * 2


@pytest.mark.slow
def test_two_engines_run_a_network_on_the_far_side(
    engine: docker.DockerClient, far: FarSide, base_image: str, tmp_path: Path
) -> None:
    """Two engines and two networks cross the gap in a bundle. They do the same work there, without a network."""
    assert engine.ping()
    (tmp_path / "near").mkdir()
    near = home(tmp_path / "near", BOTH)
    made = orchestrator(near, base_image, "export", "--offline", "--no-orchestrator", "-o", "bundle")
    assert made.returncode == 0, made.stderr
    assert (near / "bundle/networks/ours/ours.onnx.data").read_bytes() == (near / "ours.onnx.data").read_bytes()

    def on_the_far_side(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "orchestrator", *arguments)
        return far.run(*command, folder=tmp_path, environment=far.environment(ORCHESTRATOR_IDLE_WAIT="0"))

    loaded = on_the_far_side("load", str(near / "bundle"))
    assert loaded.returncode == 0, loaded.stderr
    ended = on_the_far_side("run", "--plan", "exported", "--json")

    assert ended.returncode == 0, ended.stderr
    report = data_of(ended.stdout)
    assert [cell["statuses"] for cell in report["cells"]] == [[["ok", 1]]] * 4
    pairs = [group["parity"][0][1] for group in report["groups"]]
    assert [pair["work"] for pair in pairs] == ["same work"] * 2
    assert {each["what"] for pair in pairs for each in pair["differences"]} <= {"scores", "pooled", "states"}
