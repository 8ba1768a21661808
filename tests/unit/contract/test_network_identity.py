"""The sum that tells apart the work of two networks of one name."""

from typing import Any

import pytest

from benchmarks.networks import fed_sha256
from orchestrator.regression.judge.comparable import Surrounding, environment_difference, environment_fact

NETWORK = {
    "sha256": "a" * 64,
    "dimensions": {"length": 12},
    "inputs": [{"name": "words", "kind": "int64", "shape": [None, 12], "below": 100}],
    "folder": "/networks/ours",
}


@pytest.mark.parametrize(
    ("change", "is_equal"),
    [
        ({"folder": "/elsewhere"}, True),
        ({"sha256": "b" * 64}, False),
        ({"dimensions": {"length": 13}}, False),
        ({"inputs": [{**NETWORK["inputs"][0], "below": 50}]}, False),  # type: ignore[index]
    ],
)
def test_file_sizes_and_inputs_make_another_work(change: dict[str, Any], is_equal: bool) -> None:
    assert (fed_sha256(NETWORK) == fed_sha256({**NETWORK, **change})) is is_equal


def test_results_of_two_networks_are_not_comparable() -> None:
    one, other = (
        Surrounding(frozenset({1}), {"network": frozenset({environment_fact("network", digest * 64)})})
        for digest in "ab"
    )

    assert environment_difference(one, one) == ""
    assert environment_difference(one, other) == (
        "environment: ONNX file, sizes and inputs aaaaaaaaaaaa against bbbbbbbbbbbb"
    )
