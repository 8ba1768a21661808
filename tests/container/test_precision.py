"""The precision of products on a GPU: the error tells which it was. Fakes of products are rounded in NumPy."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from container_support import document, request_of

from benchmarks import precision, run
from benchmarks.errors import Failure, Unsupported
from benchmarks.frameworks import noop

ON_GPU = request_of(gpus=1)
BITS = {"fp32": 23, "tf32": 10, "bf16": 7}


def emulated(values: Any, arithmetic: str, cut_off: bool = False) -> Any:
    """Round float32 values to the bits that an arithmetic keeps, to nearest or by cutting the others off."""
    dropped = 23 - BITS[arithmetic]
    bits = values.view(np.uint32).astype(np.uint64)
    if dropped and not cut_off:
        bits += 1 << (dropped - 1)
    return (bits >> dropped << dropped).astype(np.uint32).view(np.float32)


def session(arithmetic: str, cut_off: bool = False) -> Any:
    """A fake session, whose GPU is NumPy with emulated operands, and in bfloat16 an emulated product."""

    def product(left: Any, right: Any) -> Any:
        computed = emulated(left, arithmetic, cut_off) @ emulated(right, arithmetic, cut_off)
        return emulated(computed, arithmetic) if arithmetic == "bf16" else computed

    return SimpleNamespace(product=product)


def workload(**options: str) -> Any:
    return SimpleNamespace(options=options)


@pytest.mark.parametrize(
    ("asked", "computed", "error"),
    [("fp32", "fp32", 3e-7), ("tf32", "tf32", 2.9e-4), ("bf16", "bf16", 2.9e-3), ("amp", "bf16", 2.9e-3)],
)
def test_what_was_asked_is_a_fact(asked: str, computed: str, error: float) -> None:
    fact = precision.require_asked(ON_GPU, workload(precision=asked), session(computed))

    assert fact == {"asked": asked, "shown": computed, "error": pytest.approx(error, rel=0.3)}


@pytest.mark.parametrize("arithmetic", ["tf32", "bf16"])
def test_bits_may_be_cut_off_too(arithmetic: str) -> None:
    """Some kernels of NVIDIA's libraries cut the bits off that they do not keep."""
    fact = precision.require_asked(ON_GPU, workload(precision=arithmetic), session(arithmetic, cut_off=True))

    assert fact is not None
    assert fact["shown"] == arithmetic


@pytest.mark.parametrize(
    ("asked", "computed"), [("fp32", "tf32"), ("tf32", "fp32"), ("tf32", "bf16"), ("amp", "tf32"), ("bf16", "fp32")]
)
def test_another_precision_ends_the_cell(asked: str, computed: str) -> None:
    """The reason names what was asked and what the error shows."""
    with pytest.raises(Failure, match=rf"^asked for precision {asked}, .* which is that of {computed}$") as caught:
        precision.require_asked(ON_GPU, workload(precision=asked), session(computed))

    assert caught.value.exit_code == Failure.exit_code


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_wrong_product_is_no_precision(value: float) -> None:
    wrong = SimpleNamespace(product=lambda left, _right: np.full_like(left, value))

    with pytest.raises(Failure, match=r"no precision known here$"):
        precision.require_asked(ON_GPU, workload(), wrong)


def test_a_cpu_multiplies_nothing_for_this() -> None:
    assert precision.require_asked(request_of(), workload(precision="fp32"), SimpleNamespace(product=None)) is None


def test_own_definition_need_not_multiply() -> None:
    assert precision.require_asked(ON_GPU, workload(), SimpleNamespace()) is None


@pytest.mark.parametrize(("arithmetic", "exit_code"), [("fp32", 0), ("tf32", Failure.exit_code)])
def test_timed_cells_multiply_before_the_first_step(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arithmetic: str, exit_code: int
) -> None:
    """A result has the fact; a cell that multiplies in TF32 unasked has no result and no first step."""
    monkeypatch.setattr(noop._Session, "product", staticmethod(session(arithmetic).product), raising=False)
    (tmp_path / "request.json").write_text(json.dumps(document(gpus=1, min_block_s=0.0)))

    assert run.main(["--io", str(tmp_path)]) == exit_code
    if exit_code:
        assert (tmp_path / "phase").read_text() == "build\n"
        assert not (tmp_path / "result.json").exists()
    else:
        facts = json.loads((tmp_path / "result.json").read_text())["facts"]
        assert facts["products"] == {"asked": "fp32", "shown": "fp32", "error": pytest.approx(3e-7, rel=0.2)}


@pytest.mark.parametrize(
    ("capability", "has_switch", "reason"),
    [
        (None, True, "tf32 is arithmetic of GPUs, which a CPU lacks; fp32 runs on it"),
        ((7, 5), True, "tf32 needs a GPU of compute capability 8.0 or more; this one has 7.5"),
        ((9, 0), False, "this release of the framework has no switch for tf32"),
    ],
)
def test_tf32_is_unsupported_without_its_arithmetic(
    capability: tuple[int, int] | None, has_switch: bool, reason: str
) -> None:
    with pytest.raises(Unsupported) as caught:
        precision.require_tf32(capability, has_switch)

    assert str(caught.value) == reason
    precision.require_tf32((8, 0), True)


@pytest.mark.parametrize(
    ("options", "override"), [({}, "0"), ({"precision": "amp"}, "0"), ({"precision": "tf32"}, None)]
)
def test_nvidias_libraries_may_round_if_asked(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, str], override: str | None
) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")

    precision.set_override(options)

    assert os.environ.get("NVIDIA_TF32_OVERRIDE") == override
