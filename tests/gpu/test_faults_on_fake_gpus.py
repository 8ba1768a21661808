"""Faults of GPUs and of their driver on a fake host, each with its typed outcome, through the whole program."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.gpu.fake_host import FakeHost

NOTHING: Mapping[str, Any] = {}
FAILING = """\
import json, os, sys, time
def set_lost(lost):
    with open(sys.argv[1]) as file:
        state = json.load(file)
    state["gpus"][0]["lost"] = lost
    with open("state", "w") as file:
        json.dump(state, file)
    os.replace("state", sys.argv[1])  # at once, as others read it
set_lost(True)
time.sleep(1)
set_lost(False)
print("slept 1")
"""


def write_matrix(host: FakeHost, **changes: object) -> None:
    document = {"version": 1, "systems": {"1_gpu": {"gpus": 1}}, "repeats": 1, "parity": False}
    (host.folder / "matrix.yaml").write_text(json.dumps(document | changes))


@pytest.mark.parametrize(
    ("of_host", "of_gpu", "reason"),
    [
        (
            {"mismatch": True},
            NOTHING,
            "needs 1 GPU; this host has 0 (the driver says: RM has detected an NVML/RM version mismatch",
        ),
        (NOTHING, {"lost": True}, "needs 1 GPU; this host has 0 (the driver says: GPU 0: GPU is lost)"),
        (NOTHING, {"divided": True}, "this host has 0 (the driver says: GPU 0 is divided (MIG) and has no parts)"),
        (NOTHING, {"hot": True}, "GPU 0: heat holds it back at 40 °C"),
        (NOTHING, {"temperature": 91}, "GPU 0: it has 91 °C, and is slowed down at 95 °C"),
        (NOTHING, {"processes": [999999]}, "GPU 0: process 999999 runs on it"),
    ],
    ids=["mismatch", "lost", "divided", "throttled", "near its slowdown", "foreign process"],
)
def test_a_fault_before_the_launch_is_no_device(
    fake_host: FakeHost, of_host: Mapping[str, Any], of_gpu: Mapping[str, Any], reason: str
) -> None:
    fake_host.set(gpus=1, cpus=2, **of_host)
    fake_host.change(0, **of_gpu)
    write_matrix(fake_host, frameworks=["noop==1"], models=["mlp"])
    (outcome,) = fake_host.repeats("--idle-wait", "0.1")

    assert (outcome["status"], outcome["attempts"]) == ("no_device", 0)
    assert reason in outcome["reason"]


@pytest.mark.parametrize(
    ("of_host", "of_gpu", "reason"),
    [
        ({"driver": "450.80.02"}, NOTHING, " or newer; this host has 450.80.02"),
        (NOTHING, {"capability": [3, 5]}, "has code for compute capabilities from "),
    ],
    ids=["old driver", "old GPU"],
)
def test_a_build_that_cannot_run_is_unsupported(
    fake_host: FakeHost, of_host: Mapping[str, Any], of_gpu: Mapping[str, Any], reason: str
) -> None:
    """Nothing is built for it."""
    fake_host.set(gpus=1, cpus=2, **of_host)
    fake_host.change(0, **of_gpu)
    write_matrix(fake_host, frameworks=["torch==2.9.1"], models=["mlp"])
    (outcome,) = fake_host.repeats("--runtime", "venv", "--idle-wait", "0")

    assert (outcome["status"], outcome["attempts"]) == ("unsupported", 0)
    assert reason in outcome["reason"]


def test_a_gpu_lost_in_two_launches_is_left_out(fake_host: FakeHost) -> None:
    """Its repeats are marked. The third one finds no GPU. A lost neighbour harms no cell of another one."""
    fake_host.set(gpus=2, cpus=4)
    fake_host.change(1, name="Other GPU")
    (fake_host.folder / "lose.py").write_text(FAILING)
    metrics = {"slept": {"pattern": "slept (.*)", "unit": "times", "better": "higher"}}
    script = {"name": "lose", "file": "lose.py", "arguments": [str(fake_host.state)], "metrics": metrics}
    systems = {"1_gpu": {"gpus": 1, "gpu": "Fake*"}}
    write_matrix(fake_host, frameworks=["noop==1"], scripts=[script], systems=systems, repeats=3)
    outcomes = fake_host.repeats("--idle-wait", "0", "--extra-repeats", "0")

    assert [each["status"] for each in outcomes] == ["ok", "ok", "no_device"]
    assert [each["disturbance"] for each in outcomes[:2]] == ["GPU 0: GPU is lost"] * 2
    assert "GPU 0 is left out after 2 failures, the last one: GPU is lost" in outcomes[2]["reason"]


def test_a_lost_neighbour_harms_no_cell(fake_host: FakeHost) -> None:
    """Though the driver fails every lookup by UUID while any GPU is lost."""
    fake_host.set(gpus=2, cpus=4)
    fake_host.change(0, lost=True)
    write_matrix(fake_host, frameworks=["noop==1"], models=["mlp"])
    (outcome,) = fake_host.repeats("--idle-wait", "0.1")

    assert (outcome["status"], outcome["ran_on"], outcome.get("disturbance", "")) == ("ok", "GPU-1", "")
