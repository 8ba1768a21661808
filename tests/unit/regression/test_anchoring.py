"""The cells of an anchor in the plan of a pair, and the releases that a chain goes over."""

from collections.abc import Callable

import pytest

from orchestrator.regression.anchoring import Anchor, anchored, shortest_chain
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.rules import Gate, Rules
from orchestrator.regression.sides import Side

Pair = Callable[..., Pairing]
PYTHONS = {"1": ("3.6",), "2": ("3.6", "3.8"), "3": ("3.8", "3.10"), "4": ("3.10",), "own": ()}
ANCHOR = Anchor(Side("mxnet", "1.5.1"), 0.05)


@pytest.mark.parametrize(
    ("anchor", "candidate", "chain"),
    [
        ("1", "2", ("1", "2")),
        ("1", "3", ("1", "2", "3")),
        ("1", "4", ("1", "2", "3", "4")),
        ("1", "own", ("1", "own")),
    ],
)
def test_a_chain_is_as_short_as_can_be(anchor: str, candidate: str, chain: tuple[str, ...]) -> None:
    assert shortest_chain(anchor, candidate, ("3", "2"), PYTHONS.__getitem__) == chain


def test_no_chain_without_overlap() -> None:
    assert shortest_chain("1", "4", ("3",), PYTHONS.__getitem__) is None


def test_an_anchor_is_a_third_cell_of_a_pair(pair: Pair) -> None:
    """Only the cells of the anchor are added, with their image."""
    two = pair("mxnet==1.8.0", "mxnet==1.9.1")
    whole, anchor = anchored(two, ANCHOR, [pair("mxnet==1.5.1", "mxnet==1.9.1")])

    assert [cell.id for cell in whole.plan.cells] == [
        "mxnet-1.8.0-cpu/lenet-train-b200", "mxnet-1.9.1-cpu/lenet-train-b200", "mxnet-1.5.1-cpu/lenet-train-b200",
    ]  # fmt: skip
    assert len(whole.plan.images) == 3
    (added,) = anchor.pairs
    assert (added.id, [link.baseline for link in added.links]) == (
        "cpu/lenet-train-b200", ["mxnet-1.5.1-cpu/lenet-train-b200"]
    )  # fmt: skip
    assert whole.pairs == two.pairs


def test_a_chain_measures_its_release_on_both_pythons(pair: Pair) -> None:
    two = pair("mxnet==1.8.0", "mxnet==1.9.1")
    chain = [pair("mxnet==1.4.1", "mxnet==1.8.0"), pair("mxnet==1.8.0", "mxnet==1.9.1")]
    whole, anchor = anchored(two, ANCHOR, chain)

    assert [cell.id for cell in whole.plan.cells[2:]] == [
        "mxnet-1.4.1-cpu/lenet-train-b200", "mxnet-1.8.0-python=3.6-cpu/lenet-train-b200",
    ]  # fmt: skip
    (added,) = anchor.pairs
    assert [(link.baseline.split("/")[0], link.candidate.split("/")[0]) for link in added.links] == [
        ("mxnet-1.4.1-cpu", "mxnet-1.8.0-python=3.6-cpu"), ("mxnet-1.8.0-cpu", "mxnet-1.9.1-cpu"),
    ]  # fmt: skip


def test_what_the_anchor_cannot_do_is_named(pair: Pair) -> None:
    more = "models: [lenet, mlp]"
    whole, anchor = anchored(pair("mxnet==1.8.0", "mxnet==1.9.1", more), ANCHOR, [pair("mxnet==1.5.1", "mxnet==1.9.1")])

    assert [each.id for each in anchor.pairs] == ["cpu/lenet-train-b200"]
    assert [(each.id, each.reason) for each in anchor.missing] == [
        ("cpu/mlp-train-b32", "it is not in the plan of the anchor")
    ]
    assert len(whole.plan.cells) == 5


def test_only_what_scatters_and_worsens_can_drift() -> None:
    rules = Rules(gates=(Gate("throughput", 0.02), Gate("loss", 0.0001), Gate("image_size", 0.05)), looks=(6, 12))

    found = ANCHOR.rules(rules)
    assert [gate for gate in found.gates if gate.metric != "largest_batch"] == [Gate("throughput", 0.05)]
    assert found.looks == rules.looks
