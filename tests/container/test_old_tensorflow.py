"""TensorFlow before 2.5 on a GPU, which tells no peak of memory and waits for no device by a call of its own.

TensorFlow 1 under Keras 2 tells the device of a tensor in the graph that its session has run.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

MODULES = ("frameworks", "operators", "native", "loaders", "parallel")
Import = Callable[..., dict[str, Any]]


class Copied:
    """A scalar on the device, which counts how often it is copied to the host."""

    def __init__(self) -> None:
        self.copies = 0

    def numpy(self) -> float:
        self.copies += 1
        return 0.0


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Import:
    """Import what is made of TensorFlow with a stub in its place."""

    def modules(**names: Any) -> dict[str, Any]:
        stub = ModuleType("tensorflow")
        vars(stub).update({"__version__": "2.1.0", "keras": SimpleNamespace(layers=None)}, **names)
        vars(stub).update({each: None for each in ("math", "nn", "linalg") if each not in names})
        monkeypatch.setitem(sys.modules, "tensorflow", stub)
        for package in MODULES:
            # What is imported here goes with the test, from the modules and from the attributes of its package.
            monkeypatch.setitem(sys.modules, f"benchmarks.{package}.tensorflow", stub)
            monkeypatch.delitem(sys.modules, f"benchmarks.{package}.tensorflow")
            monkeypatch.setattr(f"benchmarks.{package}.tensorflow", None, raising=False)
        return {
            package: importlib.import_module(f"benchmarks.{package}.tensorflow")
            for package in ("frameworks", "operators")
        }

    return modules


def operators() -> dict[str, Any]:
    """Return the functions that the module of single operators names when it is imported."""
    function = SimpleNamespace(
        **dict.fromkeys(
            ("sigmoid", "tanh", "softplus", "l2_normalize", "relu", "softsign", "matmul", "add", "multiply", "maximum"),
            abs,
        )
    )
    return {"math": function, "nn": function, "linalg": function}


def on_a_gpu(module: Any) -> Any:
    """Return a session on a GPU without what it is built of."""
    session = object.__new__(module._Session)
    session._gpu = session._training = True
    return session


def test_peak_begins_anew_where_it_can(imported: Import) -> None:
    """Releases that tell no peak, or cannot forget it, say so."""
    forgotten: list[str] = []
    tells = {"get_memory_info": lambda _: {"peak": 7}}
    old = SimpleNamespace(experimental=SimpleNamespace(**tells))
    new = SimpleNamespace(experimental=SimpleNamespace(**tells, reset_memory_stats=forgotten.append))
    sessions = [on_a_gpu(imported(config=config, **operators())["frameworks"]) for config in (old, new)]
    for session in sessions:
        session._replicas = None

    assert [session.reset_peak_device_bytes() for session in sessions] == [False, True]
    assert forgotten == ["GPU:0"]


@pytest.mark.parametrize("package", ["frameworks", "operators"])
def test_peak_that_is_not_told_is_none(imported: Import, package: str) -> None:
    old = SimpleNamespace(experimental=SimpleNamespace())
    new = SimpleNamespace(experimental=SimpleNamespace(get_memory_info=lambda device: {"peak": 7, "device": device}))

    assert on_a_gpu(imported(config=old, **operators())[package]).peak_device_bytes() is None
    assert on_a_gpu(imported(config=new, **operators())[package]).peak_device_bytes() == 7


@pytest.mark.parametrize("package", ["frameworks", "operators"])
def test_copy_waits_where_no_call_does(imported: Import, package: str) -> None:
    scalar, loss, calls = Copied(), Copied(), []
    device = {"zeros": lambda _shape: scalar, "identity": lambda value: value, **operators()}
    new = SimpleNamespace(experimental=SimpleNamespace(sync_devices=lambda: calls.append("waited")))

    on_a_gpu(imported(test=SimpleNamespace(), **device)[package]).synchronise(loss)
    assert (scalar.copies, calls) == (1, [])
    on_a_gpu(imported(test=new, **device)[package]).synchronise(loss)
    assert (scalar.copies, calls) == (1, ["waited"])


class PlacingSession:
    """A session of TensorFlow 1 that places each node on one device, and tells so in the graph that it ran."""

    def __init__(self, device: str) -> None:
        self._device = device

    def run(self, tensor: Any, options: Any, run_metadata: Any) -> None:
        assert options == {"output_partition_graphs": True}
        nodes = [SimpleNamespace(name=tensor.op.name, device=self._device), SimpleNamespace(name="other", device="")]
        run_metadata.partition_graphs.append(SimpleNamespace(node=nodes))


class Sum:
    """A tensor that is never computed, with the name of its operation."""

    op = SimpleNamespace(name="add")

    def __add__(self, _: float) -> "Sum":
        return self


@pytest.mark.parametrize(
    ("told", "device"),
    [
        ("/job:localhost/replica:0/task:0/device:GPU:0", "/GPU:0"),
        ("/job:localhost/replica:0/task:0/gpu:0", "/GPU:0"),
        ("/job:localhost/replica:0/task:0/device:CPU:0", "/CPU:0"),
    ],
)
def test_keras_2_names_the_device_of_a_tensor(monkeypatch: pytest.MonkeyPatch, told: str, device: str) -> None:
    """Not the GPU that was asked for: without a usable one, TensorFlow places it on the CPU."""
    stub, keras = ModuleType("tensorflow"), ModuleType("keras")
    vars(stub).update(
        ConfigProto=lambda **_: SimpleNamespace(gpu_options=SimpleNamespace()),
        RunMetadata=lambda: SimpleNamespace(partition_graphs=[]),
        RunOptions=dict,
        Session=lambda config: PlacingSession(told),
        random_uniform=lambda shape: Sum(),
    )
    backend = SimpleNamespace(set_session=lambda session: vars(backend).update(get_session=lambda: session))
    vars(keras).update(backend=backend)
    monkeypatch.setitem(sys.modules, "tensorflow", stub)
    monkeypatch.setitem(sys.modules, "keras", keras)
    monkeypatch.setitem(sys.modules, "benchmarks.native.keras.keras2", SimpleNamespace(Keras2Builder=object))
    monkeypatch.delitem(sys.modules, "benchmarks.native.keras.on_tensorflow", raising=False)
    module = importlib.import_module("benchmarks.native.keras.on_tensorflow")
    monkeypatch.delitem(sys.modules, "benchmarks.native.keras.on_tensorflow")

    assert module.prepare(2, gpu=True) == device
    assert module.prepare(2, gpu=False) == "/CPU:0"
