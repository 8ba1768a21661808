"""Engines on the files that frameworks export themselves."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from container_support import WITH_EXPORTERS, Check, Measure, start
from tensors_apart import apart

from benchmarks.errors import Unsupported
from benchmarks.native import exported
from orchestrator.domain import ImageSpec
from orchestrator.runtimes.model import Ready

NAMES = {"torch": "torch.onnx 2.13", "tensorflow": "tf2onnx 1.17", "jax": "jax2onnx 0.17", "mxnet": "mxnet.onnx 1.9"}
frameworks = pytest.mark.frameworks
slow = pytest.mark.slow
of_exporters = pytest.mark.parametrize("environment", list(WITH_EXPORTERS), indirect=True)


def work(export: str, *, network: object = None) -> Any:
    return SimpleNamespace(options={"export": export}, builder="onnxruntime", network=network)


@pytest.mark.parametrize(
    ("asked", "beside", "expected"),
    [("auto", "torch", "torch"), ("auto", "", None), ("recorded", "torch", None), ("native", "torch", "torch")],
)
def test_the_framework_beside_exports_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, asked: str, beside: str, expected: str | None
) -> None:
    monkeypatch.setenv(exported.EXPORTER, beside)

    assert (exported.exporter_of(work(asked)) or None) == expected


def test_a_native_file_needs_a_framework_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(exported.EXPORTER, raising=False)

    with pytest.raises(Unsupported, match="needs a framework beside the engine, as in onnxruntime==VERSION on torch"):
        exported.exporter_of(work("native"))


def test_a_file_of_the_user_is_exported_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(exported.EXPORTER, "torch")

    with pytest.raises(Unsupported, match="your own ONNX file is given as it is"):
        exported.exporter_of(work("native", network={"inputs": []}))


@frameworks
@slow
@of_exporters
@pytest.mark.parametrize("model", ["lstm", "mlp"])
def test_both_files_compute_the_same(environment: tuple[ImageSpec, Ready], check: Check, model: str) -> None:
    """The framework's weights and layers are those of the vocabulary, and logits are within rounding of our file's."""
    backend = environment[0].framework.backend
    native, ours = (check(model, batch_size=32, options={"export": each}) for each in ("native", "recorded"))

    assert native.inferred is not None
    assert ours.inferred is not None
    assert apart(native.inferred, ours.inferred.model_dump()) < 1e-5
    assert {name: tensor.norm for name, tensor in native.weights.items()} == {
        name: pytest.approx(tensor.norm) for name, tensor in ours.weights.items()
    }
    assert native.layers == ours.layers
    assert backend is not None
    described = native.facts["onnx"]
    assert str(described["exporter"]).startswith(NAMES[backend.name])  # type: ignore[index]
    assert "exporter" not in ours.facts["onnx"]  # type: ignore[operator]


@frameworks
@slow
@of_exporters
def test_the_exporter_leaves_the_engine_its_memory(measure: Measure) -> None:
    """Whatever exports is another process, so that the peak is near that of our own file."""
    peaks = [
        measure(model="mlp", mode="infer", batch_size=8, options={"export": each}).memory.peak_rss_bytes
        for each in ("native", "recorded")
    ]

    assert peaks[0] < 1.5 * peaks[1]


@frameworks
@slow
@pytest.mark.parametrize("environment", [next(iter(WITH_EXPORTERS))], indirect=True)
def test_quantised_files_are_not_those_of_exporters(
    environment: tuple[ImageSpec, Ready], io: Callable[..., Path]
) -> None:
    _, ready = environment
    folder = io(builder="onnxruntime", framework="onnxruntime", mode="infer", options={"quantisation": "static"})

    ended = start("--io", str(folder), python=ready.handle, **dict(ready.variables))

    assert ended.returncode == 3
    assert "set export: recorded" in ended.stderr
