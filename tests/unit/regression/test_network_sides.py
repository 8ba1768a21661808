"""Releases of an engine as sides, over networks of the user's own: each plan carries the networks of its cells."""

from pathlib import Path

import pytest

from orchestrator.catalog import shipped_catalog
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.files import size_and_sum
from orchestrator.regression.anchoring import Anchor, anchored
from orchestrator.regression.joint_plan import joint_plan
from orchestrator.regression.pairing import EVERYTHING, Pairing, Selection
from orchestrator.regression.sides import Side
from orchestrator.results.records import plan_from_json, plan_to_json
from tests import exported
from tests.unit.regression.conftest import Pairer

OWN = """frameworks: [onnxruntime==1.20.1, openvino==2026.4.1]
models: [{name: ours, file: ours.onnx, batch_size: [1, 8]}, {name: words, file: words.onnx, FEED}]
modes: [infer]""".replace("FEED", "dimensions: {length: 12}, inputs: {mask: {value: 1}}")


@pytest.fixture
def own(tmp_path: Path) -> Pairer:
    """Pairs sides over two networks, with the engines of the shipped catalog."""
    exported.saved(exported.image_network(), tmp_path / "ours.onnx", beside=True)
    exported.saved(exported.text_network(), tmp_path / "words.onnx")
    return Pairer(tmp_path, shipped_catalog())


def names(plan: Plan) -> list[str]:
    return [network.name for network in plan.networks]


def over_networks(own: Pairer, candidate: str, *select: str, baseline: str = "onnxruntime==1.20.1") -> Pairing:
    return own(baseline, candidate, OWN, Selection(select) if select else EVERYTHING)


def test_a_network_is_paired_with_itself(own: Pairer, tmp_path: Path) -> None:
    """Both sides are given the same files, and only the engine differs."""
    pairing = over_networks(own, "onnxruntime==1.21.1")

    assert [(pair.id, pair.candidate) for pair in pairing.pairs] == [
        (f"cpu/{work}", f"onnxruntime-1.21.1-cpu/{work}")
        for work in ("ours-infer-b1", "ours-infer-b8", "words-infer-b1")
    ]
    assert names(pairing.plan) == ["ours", "words"]
    carried = {file.path: (file.size_bytes, file.sha256) for each in pairing.plan.networks for file in each.files}
    assert carried == {name: size_and_sum(tmp_path / name) for name in ("ours.onnx", "ours.onnx.data", "words.onnx")}
    assert plan_from_json(plan_to_json(pairing.plan)) == pairing.plan


def test_a_selected_pair_brings_its_network_alone(own: Pairer) -> None:
    assert names(over_networks(own, "onnxruntime==1.21.1", "words-*").plan) == ["words"]
    assert names(over_networks(own, "onnxruntime==1.21.1", "ours-infer-b8").plan) == ["ours"]


def test_releases_without_networks_are_refused(own: Pairer) -> None:
    """A framework that runs no ONNX files has nothing to compare, and the reason is that of a run."""
    text = OWN.replace("openvino==2026.4.1", "torch==2.13.0")

    with pytest.raises(InputError, match="torch runs no ONNX files; onnxruntime and openvino do"):
        own("torch==2.12.0", "torch==2.13.0", text)


def test_joint_blocks_carry_a_network_once(own: Pairer) -> None:
    sides = [Side("onnxruntime", version) for version in ("1.19.2", "1.20.1", "1.21.1", "9.9")]

    def pair(one: Side, other: Side) -> Pairing:
        return over_networks(own, other.text, "words-*", baseline=one.text)

    joint = joint_plan(sides, pair, blocks=5)

    assert list(joint.cells) == [side.text for side in sides[:3]]
    assert list(joint.reasons) == ["onnxruntime==9.9"]
    assert names(joint.plan) == ["words"]
    assert {cell.repeats for cell in joint.plan.cells} == {5}


def test_an_anchor_brings_its_network(own: Pairer) -> None:
    """The cells of an anchor need no network besides that of their pair."""
    two = over_networks(own, "onnxruntime==1.21.1", "ours-infer-b1")
    whole, anchor = anchored(
        two,
        Anchor(Side("onnxruntime", "1.19.2"), 0.05),
        [over_networks(own, "onnxruntime==1.21.1", baseline="onnxruntime==1.19.2")],
    )

    assert [pair.id for pair in anchor.pairs] == ["cpu/ours-infer-b1"]
    assert len(whole.plan.cells) == 3
    assert names(whole.plan) == ["ours"]
