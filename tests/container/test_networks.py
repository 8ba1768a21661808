"""The container's side of an exported network, with an engine that computes by ONNX's own reference."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from benchmarks import contract, networks
from benchmarks.errors import BadRequest, Diverged, Unsupported
from benchmarks.native import onnx as native_onnx
from benchmarks.native import serving
from benchmarks.parity.tensors import tensors_of_outputs
from benchmarks.vocabulary import features
from benchmarks.workload import prepared
from orchestrator.networks.drawn_values import Drawn
from orchestrator.networks.reading import NetworkFeed, read
from orchestrator.results.contract import Request
from orchestrator.running.requests import with_network
from tests import exported


class ReferenceEngine:
    """An engine that takes any file, or refuses every one."""

    ERRORS = (ValueError,)

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses
        self.fixed: Any = None

    def opened(self, file: str, fixed: Any = None) -> Any:
        if self.refuses:
            raise ValueError(self.refuses)
        self.fixed = fixed
        evaluator = ReferenceEvaluator(onnx.load(file))
        return lambda fed: evaluator.run(None, fed)

    def facts(self, kind: str) -> dict[str, Any]:
        return {"framework_version": "1", "precision": kind, "threads": 1}


def request(path: Path, feed: NetworkFeed, **changes: Any) -> Any:
    """Return the request for an ONNX file, as the host spells it out."""
    network, mistakes = read(path, "ours", feed)
    assert network is not None, mistakes
    plain = Request(
        cell="a/b", repeat=0, framework="onnxruntime", builder="onnxruntime", model="ours", mode="infer", batch_size=3
    )
    asked = with_network(plain, network, str(path.parent)).model_dump(mode="json", by_alias=True)
    return contract.request({**asked, **changes})


@pytest.fixture
def words(tmp_path: Path) -> Any:
    path = exported.saved(exported.text_network(), tmp_path / "words.onnx")
    return request(path, NetworkFeed({"length": 12}, {"mask": Drawn(value=1)}))


def test_a_session_runs_the_file_on_what_was_drawn(words: Any) -> None:
    workload = prepared(words)({"export": "auto"})
    engine = ReferenceEngine()
    session = serving.session(workload, engine)

    states, pooled = session.fetch(session.step(session.batches[0]))

    assert (states.shape, pooled.shape) == ((3, 12, 8), (3, 8))
    assert engine.fixed == ({"length": 12, "n": 3}, {"words": (3, 12), "mask": (3, 12)})
    fed = session.batches[0]
    assert (fed["words"].dtype, fed["words"].min() >= 0, fed["words"].max() < 100) == (np.int64, True, True)
    assert set(fed["mask"].ravel()) == {1}
    assert session.parameters == workload.counts()["parameters"] == 100 * 8 + 8 * 8
    assert session.facts()["onnx"] == {"opset": 13, "sha256": words.network["sha256"]}


def test_batches_are_the_same_by_one_seed_and_differ_among_themselves(words: Any) -> None:
    first, second = (list(prepared(words)({"export": "auto"}).batches()) for _ in range(2))

    assert len(first) == networks.RING_BATCHES
    assert all(np.array_equal(a[0][0], b[0][0]) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0][0][0], first[1][0][0])


def test_a_network_needs_a_framework_that_runs_one(words: Any) -> None:
    workload = prepared(words)({"export": "auto"})

    assert features.needed(workload) == ["ONNX files", "several inputs"]


def test_a_refused_file_is_unsupported_with_the_reason(words: Any) -> None:
    with pytest.raises(Unsupported, match="this release cannot run the network: ValueError: opset 30 is not known"):
        serving.session(prepared(words)({"export": "auto"}), ReferenceEngine("opset 30 is not known"))


def test_another_file_than_the_planned_one_is_a_bad_request(words: Any, tmp_path: Path) -> None:
    exported.saved(exported.image_network(), tmp_path / "words.onnx")

    with pytest.raises(BadRequest, match="not those that were planned"):
        prepared(words)({"export": "auto"})


def test_the_sum_of_several_files_is_that_of_the_host(tmp_path: Path) -> None:
    path = exported.saved(exported.image_network(), tmp_path / "ours.onnx", beside=True)
    asked = request(path, NetworkFeed())

    assert len(asked.network["files"]) == 2
    assert networks.sha256(asked.network) == asked.network["sha256"]


def test_outputs_that_are_no_numbers_are_no_measurement(words: Any) -> None:
    workload = prepared(words)({"export": "auto"})

    workload.check_outputs([np.array([1, -np.inf], "f4"), np.ones(3, "i8")])
    with pytest.raises(Diverged, match=r"the output 'pooled' holds NaN .* if an input is a mask"):
        workload.check_outputs([np.ones(3, "i8"), np.array([1, np.nan], "f4")])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mode": "train"}, "a 'network' does inference alone"),
        ({"network": {"folder": "/x"}}, "'network' must say where an ONNX file lies"),
    ],
)
def test_a_wrong_request_is_refused(words: Any, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        contract.request({**words._asdict(), **changes})


def test_masked_places_stand_apart_from_values(words: Any) -> None:
    """Beside the least number of its type, no other value of an output would count."""
    scores = np.array([[1.0, -np.inf], [np.finfo("f4").min, 2.0]], "f4")

    told = dict(tensors_of_outputs(["scores", "label"], [scores, np.array([3, 4])]))

    assert list(told) == ["scores", "scores (masked places)", "label"]
    assert told["scores"] == {"norm": float("%.9g" % 5**0.5), "sketch": [1.0, 0.0, 0.0, 2.0]}
    assert told["scores (masked places)"]["sketch"] == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("change", "arithmetic"),
    [
        ("", None),
        ("stored", None),
        ("DequantizeLinear", None),
        ("half", "float16"),
        ("DynamicQuantizeLinear", "int8"),
        ("QLinearConv", "int8"),
    ],
)  # fmt: skip
def test_a_file_says_in_what_it_computes(tmp_path: Path, change: str, arithmetic: str | None) -> None:
    model = exported.image_network()
    if change == "half":
        model.graph.initializer[0].data_type = onnx.TensorProto.FLOAT16
    elif change == "stored":
        stored = onnx.numpy_helper.from_array(np.ones(4, "float16"), "stored")
        model.graph.initializer.append(stored)
        model.graph.node.append(onnx.helper.make_node("Cast", ["stored"], ["used"], to=onnx.TensorProto.FLOAT))
    elif change:
        model.graph.node.add(op_type=change)

    facts = native_onnx.described(str(exported.saved(model, tmp_path / "ours.onnx")))

    assert facts == {"opset": 13, **({"arithmetic": arithmetic} if arithmetic else {})}


def test_a_file_without_operators_of_onnx_has_no_opset(tmp_path: Path) -> None:
    model = exported.image_network()
    model.opset_import[0].domain = "ai.onnx.ml"

    assert native_onnx.described(str(exported.saved(model, tmp_path / "trees.onnx"))) == {"opset": 0}
