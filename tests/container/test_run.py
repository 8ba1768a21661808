"""The program as a container starts it: files, phases, exit codes, and what a person sees by hand."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from container_support import start
from planted_builders import Folder, last_line, session

from benchmarks import MEASUREMENT_VERSION
from orchestrator.analysis.measurements import repeat_measurement
from orchestrator.results.container_answers import read_result

BROKEN = {
    "absent": "import a_framework_that_is_not_there\n",
    "old": "raise AttributeError('module numpy has no attribute bool')\n",
    "linked": "raise OSError('libcudart.so.11.0: cannot open shared object file')\n",
    "leaving": "import sys\nsys.exit(3)\n",
}
SMALL = (
    'TITLE, INPUT_SHAPE, CLASSES, BATCH_SIZE, SAMPLES = "Small", (1, 8, 8), 10, 32, 1437\n'
    'OPTIMIZER = {"name": "sgd", "learning_rate": 0.1}\n'
    "def build(net):\n    return net.dense(net.flatten(net.input(*INPUT_SHAPE)), CLASSES)\n"
)


def test_request_is_answered_and_leaves_nothing_else(io: Folder) -> None:
    """A request is answered with a valid result, and nothing is left next to it."""
    folder = io(seed=7, repeat=3)

    ended = start("--io", str(folder))

    assert (ended.returncode, ended.stderr) == (0, "")
    result = read_result(folder / "result.json")
    assert (result.cell, result.repeat) == ("noop-1-cpu/lenet-train-b200", 3)
    assert result.measurement_version == MEASUREMENT_VERSION
    assert len(result.latency_s) == 50
    seen = [block.conditions for block in (result.first_step, *result.warmup, *result.blocks)]
    assert all(one is not None and one.rss_bytes for one in [*seen, result.latency_conditions])
    assert result.phases.data_s == 0, "this builder asks for no data"
    assert result.memory.peak_rss_bytes > 1_000_000
    assert result.used is not None
    assert result.used.user_s >= sum(block.cpu_s for block in result.blocks) / 2, "of a process that mostly loops"
    assert result.used.written_bytes is not None, "a kernel of ours counts them"
    assert result.facts["cpu"]["logical"] == os.cpu_count()
    assert {path.name for path in folder.iterdir()} == {"request.json", "result.json", "phase"}
    assert (folder / "phase").read_text() == "latency\n"


def test_steps_that_do_nothing_tell_of_no_cores(io: Folder) -> None:
    """On one CPU they were told as two and more: the reading of the CPU clock takes longer than such a block."""
    folder = io(cpuset=[min(os.sched_getaffinity(0))])

    assert start("--io", str(folder)).returncode == 0

    cores = repeat_measurement(read_result(folder / "result.json"), None).cpu_cores
    assert cores is None or cores <= 1.01


EVALUATING = (
    session(loss="1.0")
    + """
def predict(self, inputs):
    import numpy
    self.held = numpy.ones(50 * 1000 * 1000)
    return numpy.zeros((len(inputs), 10))
def peak(self): return 400 * 1000 * 1000 if hasattr(self, "held") else 7
Session.predict, Session.peak_device_bytes = predict, peak
"""
)


def test_memory_peaks_leave_out_the_evaluation(io: Folder, with_builder: Callable[..., Path]) -> None:
    """Peaks of memory are those of training and not of what evaluates it."""
    folder = io(builder="mine", dataset="digits", model="mlp_small", model_file="mlp_small.py", epochs=2, steps=None)
    (folder / "mlp_small.py").write_text(SMALL)

    ended = start("--io", str(folder), path=with_builder("mine", EVALUATING))

    assert ended.returncode == 0, ended.stderr
    result = read_result(folder / "result.json")
    assert len(result.epochs) == 2
    later = result.blocks[1].conditions
    assert later is not None
    assert result.memory.peak_rss_bytes < 300_000_000 < (later.rss_bytes or 0)
    assert result.memory.peak_device_bytes == 7


TUNING = (
    session(loss="1.0")
    + """
bytes_now = highest = 0
def step(self, batch):
    global bytes_now, highest
    self.steps = getattr(self, "steps", 0) + 1
    bytes_now = 900 if self.steps < 3 else 400
    highest = max(highest, bytes_now)
def forget(self):
    global highest
    highest = bytes_now
    return %s
Session.step, Session.reset_peak_device_bytes, Session.peak_device_bytes = step, forget, lambda self: highest
"""
)


@pytest.mark.parametrize("can_forget", [True, False])
def test_peaks_with_and_without_autotuning(io: Folder, with_builder: Callable[..., Path], can_forget: bool) -> None:
    """The first steps take more of the device than all later ones, and a framework may be able to forget that."""
    folder = io(builder="mine")

    ended = start("--io", str(folder), path=with_builder("mine", TUNING % can_forget))

    assert ended.returncode == 0, ended.stderr
    memory = read_result(folder / "result.json").memory
    assert memory.steady_peak_device_bytes == (400 if can_forget else None)
    if can_forget:
        assert memory.peak_device_bytes == 900, "of the whole repeat all the same"


NO_MNIST = (
    "the dataset 'mnist' is not in this image; "
    "it has 'synthetic' and 'digits', and reads others from a folder (--data by hand)"
)


@pytest.mark.parametrize(
    ("changes", "exit_code", "sentence"),
    [
        (
            {"mode": "fly"},
            5,
            "bad request: 'mode' must be one of 'generate', 'infer', 'ops', 'parity', 'requests', 'script', 'train'",
        ),
        ({"model": "lenett"}, 5, "there is no model 'lenett' in this image"),
        ({"model": "dense"}, 5, "there is no model 'dense' in this image"),  # a folder of models
        ({"model": "../run"}, 5, "there is no model '../run' in this image"),
        ({"builder": "caffe"}, 5, "there is no framework builder 'caffe' in this image"),
        ({"batch_size": 48_001}, 5, "a batch of 48001 is more than the 48000 samples there are"),
        ({"cpuset": [4095]}, 5, "cannot run on CPUs [4095]: Invalid argument"),
        ({"options": {"hybridize": True}}, 3, "noop has no option 'hybridize'"),
        (
            {"dataset": "mnist"},
            3,
            NO_MNIST,
        ),
    ],
)
def test_impossible_measurement_ends_with_code_and_sentence(
    io: Folder, changes: dict[str, object], exit_code: int, sentence: str
) -> None:
    """A measurement that cannot be made ends with its exit code and one sentence."""
    folder = io(**changes)

    ended = start("--io", str(folder))

    assert (ended.returncode, ended.stderr) == (exit_code, sentence + "\n")
    assert not (folder / "result.json").exists()


@pytest.mark.parametrize("text", ["", "[]", "{nonsense", '"text"'])
def test_request_must_be_a_json_object(tmp_path: Path, text: str) -> None:
    """A request that is no JSON object is a bad request."""
    (tmp_path / "request.json").write_text(text)

    ended = start("--io", str(tmp_path))

    assert ended.returncode == 5
    assert len(ended.stderr.splitlines()) == 1


def test_a_missing_request_is_a_bad_request(tmp_path: Path) -> None:
    ended = start("--io", str(tmp_path))

    assert ended.returncode == 5
    assert last_line(ended.stderr).endswith("request.json cannot be read: No such file or directory")


@pytest.mark.parametrize("name", BROKEN)
def test_unimportable_framework_ends_as_4(io: Folder, with_builder: Callable[..., Path], name: str) -> None:
    """A framework that cannot be imported ends with exit code 4."""
    folder = io(builder=name)

    ended = start("--io", str(folder), path=with_builder(name, BROKEN[name]))

    assert ended.returncode == 4
    assert last_line(ended.stderr).startswith(f"{name} cannot be imported: ")
    assert (folder / "phase").read_text() == "import\n"


@pytest.mark.parametrize(
    ("parts", "changes", "expected"),
    [
        ({"loss": "float('nan')"}, {}, (7, "the loss is nan after the first step: what diverged is no measurement")),
        ({"step": "raise ZeroDivisionError('by zero')"}, {}, (1, "ZeroDivisionError: by zero")),
        ({"start": "raise MemoryError"}, {}, (1, "MemoryError")),
        ({"step": "raise SystemExit(6)"}, {}, (1, "SystemExit: 6")),
        ({"start": "raise SystemExit(0)"}, {}, (1, "SystemExit: 0")),
        ({"parameters": "60171"}, {}, (7, "the framework made 60171 parameters of a model that has 60170")),
        (
            {"step": "raise RuntimeError('CUDA out of memory. Tried')"},
            {"gpus": 1},
            (6, "the device ran out of memory at batch size 200"),
        ),
        (
            {"step": "raise RuntimeError('CUBLAS_STATUS_ALLOC_FAILED')"},
            {"gpus": 1},
            (6, "the device ran out of memory at batch size 200"),
        ),
        (
            {"logits": "[[0.0] * 10] * 199"},
            {"mode": "infer"},
            (7, "the last logits have the shape (199, 10), not (200, 10)"),
        ),
        (
            {"logits": "[[0.0] * 9 + [float('nan')]] * 200"},
            {"mode": "infer"},
            (7, "the last logits are not all finite: what diverged is no measurement"),
        ),
        ({"logits": "[[0.0] * 10] * 200"}, {"mode": "infer"}, (0, "")),
        ({"step": "raise RuntimeError('out of memory')"}, {}, (1, "RuntimeError: out of memory")),
        (
            {"start": "workload.one_device()"},
            {"gpus": 2},
            (3, "this builder does training on one device; 2 GPUs are asked for"),
        ),
        ({}, {"options": {"fast": 1}}, (5, "option 'fast' of mine takes a bool, not 1")),
        ({}, {"options": {"fast": False}}, (0, "")),
    ],
)
def test_how_a_framework_fails_decides_the_exit_code(
    io: Folder,
    with_builder: Callable[..., Path],
    parts: dict[str, str],
    changes: dict[str, object],
    expected: tuple[int, str],
) -> None:
    folder = io(builder="mine", **changes)

    ended = start("--io", str(folder), path=with_builder("mine", session(**parts)))

    assert (ended.returncode, last_line(ended.stderr)) == expected
    assert (folder / "result.json").exists() == (expected[0] == 0)


LEAVING = "import sys\nsys.exit(3)\n"


@pytest.mark.parametrize(
    ("model", "definition", "sentence"),
    [
        (LEAVING, "", "small.py:2: SystemExit: 3"),
        (SMALL.replace("    return", "    raise SystemExit(6)\n    return"), "", "small.py:4: SystemExit: 6"),
        (SMALL, LEAVING, "small/noop.py:2: SystemExit: 3"),
        (SMALL, "def start(workload):\n    raise SystemExit(0)\n", "small/noop.py:2: SystemExit: 0"),
    ],
)
def test_user_file_cannot_choose_the_exit_code(io: Folder, model: str, definition: str, sentence: str) -> None:
    """A file of the user's that ends its process does not choose the exit code."""
    folder = io(model="small", model_file="small.py", definition_file="definition.py" if definition else None)
    (folder / "small.py").write_text(model)
    (folder / "definition.py").write_text(definition)

    ended = start("--io", str(folder))

    assert (ended.returncode, last_line(ended.stderr)) == (5, sentence)


def test_too_old_tensorflow_is_unsupported(io: Folder, with_builder: Callable[..., Path]) -> None:
    """A TensorFlow that is too old for the builder is unsupported."""
    path = with_builder("unused", "")
    (path / "tensorflow.py").write_text(
        "__version__ = '2.0.4'\nclass keras:\n    class layers:\n        Dense = object\n"
    )

    ended = start("--io", str(io(builder="tensorflow")), path=path)

    sentence = "this builder needs TensorFlow 2.1 or newer; here is 2.0.4\n"
    assert (ended.returncode, ended.stderr) == (3, sentence)


def test_noise_at_teardown_hides_nothing(io: Folder, with_builder: Callable[..., Path]) -> None:
    """Nothing is hidden by what a framework prints, or does while it is torn down."""
    noisy = "import atexit, sys\natexit.register(sys.stderr.write, 'chatter at the end\\n')\nprint('chatter')\n"

    failed = start("--io", str(io(builder="mine")), path=with_builder("mine", noisy + session(loss="float('inf')")))
    crashing = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGSEGV)\n"
    measured = start("--io", str(io(builder="mine")), path=with_builder("mine", crashing + session()))

    assert last_line(failed.stderr).startswith("the loss is inf")
    assert measured.returncode == 0


def test_process_is_pinned_before_the_framework_import(io: Folder, with_builder: Callable[..., Path]) -> None:
    """The process pins itself and its thread pools before the framework is imported."""
    cpu = min(os.sched_getaffinity(0))
    proof = f"import os\nassert os.sched_getaffinity(0) == {{{cpu}}}\nassert os.environ['OMP_NUM_THREADS'] == '3'\n"

    ended = start(
        "--io", str(io(builder="mine", cpuset=[cpu], threads=3)), path=with_builder("mine", proof + session())
    )

    assert ended.returncode == 0, ended.stderr


def test_epochs_are_blocks_over_all_samples(io: Folder) -> None:
    folder = io(steps=None, epochs=3)

    assert start("--io", str(folder)).returncode == 0

    result = read_result(folder / "result.json")
    assert [(block.steps, block.samples) for block in result.blocks] == [(240, 48_000)] * 3


def test_without_telemetry_nothing_is_read_around_blocks(io: Folder) -> None:
    folder = io(telemetry=False)

    assert start("--io", str(folder)).returncode == 0
    result = read_result(folder / "result.json")
    assert result.blocks[0].conditions is result.latency_conditions is None
