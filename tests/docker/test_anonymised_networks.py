"""An anonymous network beside the original in containers of an engine: the speed is proved by a run of both."""

import json
from pathlib import Path

import docker
import pytest
from whole_command import orchestrator

from tests import exported
from tests.envelopes import data_of

pytestmark = [pytest.mark.docker, pytest.mark.slow]


def test_the_proof_of_speed_measures_both(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    assert engine.ping()
    exported.saved(exported.text_network(), tmp_path / "words.onnx")
    given = ("--dimension", "length=12", "--input", "mask=value:1", "--batch-size", "8")

    ended = orchestrator(
        tmp_path, base_image, "anonymise", "words.onnx", *given, "--engine", "onnxruntime==1.20.1",
        "--repeats", "2", "--runtime", "docker", "--json",
    )  # fmt: skip

    assert ended.returncode in {0, 1}, ended.stderr
    speed = data_of(ended.stdout)["speed"]
    assert (speed["engine"], speed["tolerance"]) == ("onnxruntime==1.20.1", 0.02)
    assert (speed["verdict"] == "same") == (ended.returncode == 0)
    assert speed["low"] <= speed["ratio"] <= speed["high"]
    requests = {
        path.parent.parent.name: json.loads(path.read_text())["network"]
        for path in (tmp_path / "results" / speed["run"]).glob("*-cpu/*/0/request.json")
    }
    original, anonymous = requests["original-infer-b8"], requests["anonymous-infer-b8"]
    assert [(each["shape"], each.get("value")) for each in anonymous["inputs"]] == [
        (each["shape"], each.get("value")) for each in original["inputs"]
    ]
    assert anonymous["multiply_adds"] == original["multiply_adds"] > 0
    assert anonymous["sha256"] != original["sha256"]
