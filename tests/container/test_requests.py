"""The container's own check of a request agrees with the host's types, one clear sentence per mistake."""

from typing import Any

import pytest
from container_support import document

from benchmarks import contract
from benchmarks.errors import BadRequest, Diverged
from benchmarks.timing import largest_batch, measure
from orchestrator.modes.parts.largest_batch import GAP
from orchestrator.modes.parts.settings import LATENCY_STEPS
from orchestrator.results.contract import LATENCY_LIMIT_S, LEAST_LATENCY_STEPS, Request


def test_container_and_host_share_fields_and_defaults() -> None:
    minimal = {name: document()[name] for name in ("cell", "repeat", "framework", "builder", "model", "mode")}
    minimal["batch_size"] = 200

    ours = contract.request(minimal)._asdict()
    request = Request.model_validate(minimal)
    only_off_default = {"feed": request.feed, "workers": request.workers, "axes": request.axes}
    only_off_default |= {
        "cpu_devices": 1,
        "largest_batch": False,
        "network": None,
        "load": None,
        "generation": None,
        "trains": True,
    }

    assert ours == request.model_dump(mode="json", by_alias=True) | only_off_default


def test_container_and_host_limit_the_latency_pass_alike() -> None:
    assert (measure.LEAST_LATENCY_STEPS, measure.LATENCY_LIMIT_S) == (LEAST_LATENCY_STEPS, LATENCY_LIMIT_S)
    assert measure.DEFAULT_LATENCY_STEPS == LATENCY_STEPS


def test_container_and_host_agree_on_the_gap() -> None:
    assert largest_batch.GAP_PERCENT == 100 * GAP


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"mode": "fly"},
            "bad request: 'mode' must be one of 'generate', 'infer', 'ops', 'parity', 'requests', 'script', 'train'",
        ),
        ({"mode": "script"}, "bad request: the mode 'script' and a 'script' go together"),
        (
            {"script": {}},
            "bad request: 'script' must say what to run and what to read; the mode 'script' and a 'script' go together",
        ),
        ({"model_file": "../m.py"}, "bad request: 'model_file' must be the name of a file beside the request"),
        ({"batch_size": 0}, "bad request: 'batch_size' must be a whole number of at least 1"),
        ({"batch_size": True}, "bad request: 'batch_size' must be a whole number of at least 1"),
        ({"min_block_s": -1}, "bad request: 'min_block_s' must be a number of seconds"),
        ({"cpuset": []}, "bad request: 'cpuset' must be a list of CPU numbers"),
        ({"options": {"a": [1]}}, "bad request: 'options' must map option names to plain values"),
        ({"cell": ""}, "bad request: 'cell' must be a text that is not empty"),
        ({"colour": 1}, "bad request: 'colour' is no field of a request"),
        ({"steps": None}, "bad request: give either 'steps' or 'epochs', and set the other to null"),
        ({"epochs": 2}, "bad request: give either 'steps' or 'epochs', and set the other to null"),
        ({"schema": 2}, "the request has schema 2 and this image reads up to 1: rebuild it"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRequest) as caught:
        contract.request(document(**changes))

    assert str(caught.value) == sentence


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(BadRequest, match="'repeat' is missing; 'threads' must be a whole number of at least 1"):
        contract.request({key: value for key, value in document(threads=0).items() if key != "repeat"})


def test_result_with_nan_is_no_result() -> None:
    """A result with a number that JSON does not know is no result."""
    with pytest.raises(Diverged):
        contract.result_text({"loss": float("nan")})
