"""Networks of today on a real GPU, in the interpreter at hand, in every mode, in float32 and bfloat16."""

from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.analysis.load.generation import generation_times
from orchestrator.results.contract import Result
from tests.gpu.hardware import IS_GPU, cells_of, of_system, pin_of

pytestmark = pytest.mark.gpu

PROMPT, OUTPUT, REQUESTS = 8, 8, 20
SIZE = "small" if IS_GPU else "tiny"
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}
CELLS = {
    "encoder-train", "encoder-infer", "decoder-train", "decoder-infer", "decoder-generate", "decoder-requests",
}  # fmt: skip


@pytest.fixture(scope="module", params=["jax", "torch"])
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The cells of both models in every mode that they have, in both precisions, by id."""
    folder, pin = tmp_path_factory.mktemp("transformers"), pin_of(request.param)
    name, _, _ = pin.partition("==")
    lengths = {"prompt_length": PROMPT, "output_length": OUTPUT, "requests": REQUESTS, "first_token_limit": "30s"}
    models = [
        {"name": "encoder", "size": SIZE, "batch_size": 2},
        {"name": "decoder", "size": SIZE, "batch_size": 1, **lengths},
    ]
    cells = cells_of(
        folder, pin, models=models, modes=["train", "infer", "generate", "requests"], steps=10 if IS_GPU else 2,
        warmup_steps=1, latency_steps=5, blocks=2,
        options={name: {"precision": list(PRECISIONS)}},
        exclude=[{"model": "encoder", "mode": ["generate", "requests"], "reason": "it does not generate"}],
    )  # fmt: skip
    outcomes = {id_: cell["repeats"][0]["outcome"] for id_, cell in cells.items()}
    assert {id_: each["reason"] for id_, each in outcomes.items() if each["status"] != "ok"} == {}
    return of_system(cells, "device")


def of_mode(cells: Mapping[str, Any], work: str) -> list[Any]:
    return [cell for id_, cell in cells.items() if id_.startswith(f"{work}-b")]


def test_every_cell_is_measured(measured: Mapping[str, Any]) -> None:
    assert {work: len(of_mode(measured, work)) for work in CELLS} == dict.fromkeys(CELLS, len(PRECISIONS))


def test_precision_is_that_asked_for(measured: Mapping[str, Any]) -> None:
    for work in CELLS:
        precisions = {cell["result"]["facts"]["precision"].split(",")[0] for cell in of_mode(measured, work)}
        assert precisions == set(PRECISIONS.values()), work


def test_everything_computes_on_the_device(measured: Mapping[str, Any]) -> None:
    kinds = ("cuda", "gpu") if IS_GPU else ("cpu",)

    for id_, cell in measured.items():
        assert any(kind in cell["result"]["facts"]["device"].lower() for kind in kinds), id_
        if IS_GPU:
            assert cell["result"]["memory"]["peak_device_bytes"] > 0, id_


@pytest.mark.parametrize("work", ["decoder-generate", "decoder-requests"])
def test_every_token_has_its_time(measured: Mapping[str, Any], work: str) -> None:
    for cell in of_mode(measured, work):
        result = Result.model_validate(cell["result"])
        times, found = result.generation, generation_times(result)
        assert times is not None
        assert found is not None
        assert len(times.between_tokens_s) == (OUTPUT - 1) * len(times.first_token_s)
        assert (result.requests is not None) is (work == "decoder-requests")
        assert found.tokens_per_s > 0
