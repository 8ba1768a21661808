"""A process for each device: all do the same steps, and what happens to one ends the measurement with its reason."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from container_support import document, start

from benchmarks.errors import NoUsableDevice
from orchestrator.resources import BENCHMARKS
from orchestrator.results.container_answers import read_result
from orchestrator.results.contract import Result

BUILDER = """
import os
import signal
from benchmarks.errors import DeviceOutOfMemory, Unsupported
from benchmarks.parallel import processes

OPTIONS = {}
SEVERAL_DEVICES = True

def start(workload):
    return processes.start(workload, replica)

class Session:
    short_blocks, parameters, averaging = False, None, "mean, by nobody"
    def __init__(self, share, number):
        self.number, self.batches = number, [labels for _, labels in share.batches()]
        self.log = open(os.path.join(os.environ["LOGS"], str(number)), "w", buffering=1)
    def step(self, labels):
        self.log.write("%%d samples from %%d\\n" %% (len(labels), labels.sum()))
        %(step)s
        return float(self.number)
    def synchronise(self, _handle):
        self.log.write("synchronised\\n")
    def loss(self, handle):
        return handle
    def device_in_use(self):
        return %(device)s
    def peak_device_bytes(self):
        return 100 + self.number - self.forgotten
    forgotten = 0
    def reset_peak_device_bytes(self):
        self.forgotten = 10
        return True
    weights = native_layers = predict = lambda self, *_: None
    def facts(self):
        return {"threads": 2}

def replica(share, number, folder):
    %(replica)s
    return Session(share, number)
"""


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Measure LeNet on three fake devices, whose steps and whose making have some more code each."""
    source, folder, logs = tmp_path / "source", tmp_path / "io", tmp_path / "logs"
    shutil.copytree(BENCHMARKS, source / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    folder.mkdir()
    logs.mkdir()

    def measure(
        step: str = "pass", replica: str = "pass", device: str = "'fake:%d' % self.number", **devices: int
    ) -> tuple[int, str, Path, Path]:
        builder = source / "benchmarks" / "frameworks" / "fake.py"
        builder.write_text(BUILDER % {"step": step, "replica": replica, "device": device})
        changes: dict[str, Any] = {"builder": "fake", "batch_size": 30, "steps": 20, "min_block_s": 0.001}
        changes |= devices or {"cpu_devices": 3}
        (folder / "request.json").write_text(json.dumps(document(**changes)))
        ended = start("--io", str(folder), path=source, LOGS=str(logs))
        return ended.returncode, ended.stderr.rstrip().rpartition("\n")[2], folder, logs

    return measure


def test_all_devices_do_the_same_steps(run: Any) -> None:
    code, said, folder, logs = run()
    assert code == 0, said
    result: Result = read_result(folder / "result.json")
    lines = [(logs / str(number)).read_text().splitlines() for number in range(3)]

    kinds = [[line.split(" from ")[0] for line in each] for each in lines]
    assert kinds[0] == kinds[1] == kinds[2]
    assert set(kinds[0]) == {"10 samples", "synchronised"}
    assert lines[0] != lines[1] != lines[2], "each has its own part"
    assert {block.samples // block.steps for block in result.blocks} == {30}


def test_answers_are_those_of_all_devices(run: Any) -> None:
    _, _, folder, _ = run()
    result: Result = read_result(folder / "result.json")

    assert result.loss is not None
    assert (result.loss.last, result.memory.peak_device_bytes) == (1.0, 102)
    assert result.memory.steady_peak_device_bytes == 92, "every device has begun anew after the warm-up"
    assert result.facts["threads"] == 6
    assert result.facts["parallel"] == {
        "devices": 3, "device_names": ["fake:0", "fake:1", "fake:2"], "global_batch": 30, "device_batch": 10,
        "gradients": "mean, by nobody",
    }  # fmt: skip
    conditions = result.blocks[0].conditions
    assert conditions is not None
    assert conditions.workers_cpu_s is not None, "what the other processes use is no disturbance"


@pytest.mark.parametrize(
    ("step", "replica", "expected"),
    [
        ("", "raise Unsupported('too new') if number == 1 else None", (3, "device 1: too new")),
        ("if self.number: raise DeviceOutOfMemory('it is full')", "", (6, r"device [12]: it is full")),
        ("if self.number == 2: raise ValueError('odd')", "", (1, "device 2: ValueError: odd")),
        (
            "if self.number == 2: os.kill(os.getpid(), signal.SIGKILL)",
            "",
            (1, "device 2: its process ended without a word"),
        ),
    ],
    ids=["unsupported", "out of memory", "a mistake", "killed"],
)
def test_the_reason_of_another_device_is_told(run: Any, step: str, replica: str, expected: tuple[int, str]) -> None:
    """The first process waits for the other ones, and would else wait for ever."""
    code, said, _, _ = run(step or "pass", replica or "pass")

    assert (code, bool(re.fullmatch(expected[1], said))) == (expected[0], True), said


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (
            "'cuda:0' if self.number == 0 else 'cpu'",
            r"device [12]: fake computes on cpu, not on the GPU that it was given",
        ),
        ("'cuda:0'", r"fake computes on cuda:0, cuda:0, cuda:0, not on the 3 GPUs that it was given"),
    ],
)
def test_every_process_computes_on_a_gpu(run: Any, device: str, expected: str) -> None:
    """A process that computes elsewhere, or where another one does, ends the repeat as `no_device`."""
    code, said, _, _ = run(device=device, gpus=3)

    assert code == NoUsableDevice.exit_code
    assert re.fullmatch(f"(no usable device: )?{expected}", said), said
