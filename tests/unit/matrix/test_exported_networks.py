# ruff: noqa: E501 — each message stands on one line, as it is printed
"""`models` with `file`: exported networks in a matrix, and what they become in a plan."""

from pathlib import Path

import pytest
import yaml
from onnx import TensorProto, helper

from orchestrator import catalog, matrix, planning
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.records import plan_from_json, plan_to_json
from tests import exported

Models = dict[str, catalog.ModelInfo]
TEXT = """version: 1
frameworks: [onnxruntime==1.20.1, torch==2.13.0]
models:
  - {name: ours, file: nets/ours.onnx, batch_size: [1, 8]}
  - lenet
modes: [infer]
"""


@pytest.fixture
def known() -> catalog.Catalog:
    return catalog.shipped_catalog()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nets").mkdir()
    exported.saved(exported.image_network(), tmp_path / "nets" / "ours.onnx")
    exported.saved(exported.image_network(4), tmp_path / "nets" / "fixed.onnx")
    exported.saved(exported.text_network(), tmp_path / "nets" / "text.onnx")
    return tmp_path


def load(folder: Path, known: catalog.Catalog, models: Models, text: str = TEXT) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", known, models)


def planned(folder: Path, known: catalog.Catalog, models: Models, text: str = TEXT) -> Plan:
    return planning.plan(load(folder, known, models, text), known, models)


def refusal(folder: Path, known: catalog.Catalog, models: Models, entry: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(
            folder, known, models, f"version: 1\nframeworks: [onnxruntime==1.20.1]\nmodes: [infer]\nmodels:\n{entry}\n"
        )
    return [message.replace(f"{folder}/", "") for message in caught.value.messages]


def test_engines_run_a_network_and_frameworks_skip_it(folder: Path, known: catalog.Catalog, models: Models) -> None:
    found = planned(folder, known, models)

    assert [cell.id for cell in found.cells] == [
        "onnxruntime-1.20.1-cpu/ours-infer-b1",
        "onnxruntime-1.20.1-cpu/ours-infer-b8",
        "onnxruntime-1.20.1-cpu/lenet-infer-b200",
        "torch-2.13.0-cpu/lenet-infer-b200",
    ]
    assert {skip.reason for skip in found.skips} == {"torch runs no ONNX files; onnxruntime and openvino do"}
    assert [network.name for network in found.networks] == ["ours"]
    assert found.cells[0].parity_batch == 8, "a batch of 128 of somebody's network may not fit"
    assert str(folder) not in str(plan_to_json(found)), "a plan names no place on a host"


def test_a_network_does_not_train(folder: Path, known: catalog.Catalog, models: Models) -> None:
    found = planned(folder, known, models, TEXT.replace("[infer]", "[infer, train]"))

    reasons = {skip.cell_id: skip.reason for skip in found.skips}
    assert reasons["onnxruntime-1.20.1-cpu/ours-train-b1"] == (
        "an ONNX file is measured in inference alone; add infer to modes"
    )


def test_a_plan_with_a_network_is_stored_and_read(folder: Path, known: catalog.Catalog, models: Models) -> None:
    found = planned(folder, known, models)

    assert plan_from_json(plan_to_json(found)) == found
    assert "networks" not in plan_to_json(
        planned(folder, known, models, "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\n")
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "../x"}, "has a name that no matrix could give it"),
        ({"entry": "other.onnx"}, "its file 'other.onnx' is not at the top of its files"),
        ({"files": []}, "its file 'ours.onnx' is not at the top of its files"),
        ({"inputs": []}, "has no input"),
        ({"batch_size": 0}, "batch_size is not from 1 to 1,000,000,000"),
    ],
)
def test_a_stored_network_out_of_bounds_is_refused(
    folder: Path, known: catalog.Catalog, models: Models, change: dict[str, object], problem: str
) -> None:
    document = plan_to_json(planned(folder, known, models))
    document["networks"][0] |= change

    with pytest.raises(InputError) as caught:
        plan_from_json(document)
    assert any(problem in message for message in caught.value.messages), caught.value.messages


def test_the_long_form_loads_as_an_equal_matrix_from_elsewhere(
    folder: Path, known: catalog.Catalog, models: Models
) -> None:
    text = TEXT.replace(
        "  - lenet", "  - {name: words, file: nets/text.onnx, dimensions: {length: 12}, inputs: {mask: {value: 1}}}"
    )
    loaded = load(folder, known, models, text)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "long.yaml").write_text(yaml.safe_dump(matrix.long_form(loaded)))

    again = matrix.load(elsewhere / "long.yaml", known, models)

    assert again == loaded
    assert [network for network, _ in again.networks] == [network for network, _ in loaded.networks]


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        ("  - {name: ours, file: ours.onnx}", ["m.yaml:5:24: models.file: there is no file 'ours.onnx'; relative paths start at the folder of the matrix"]),
        ("  - {name: lenet, file: nets/ours.onnx}", ["m.yaml:5:12: models.name: a model 'lenet' is there already; give the network another name"]),
        ("  - {name: ours, file: nets/fixed.onnx, batch_size: 8}", ["m.yaml:5:53: models.batch_size: the file has a fixed batch of 4, not 8; export it with a dynamic axis"]),
        ("  - {name: ours, file: nets/ours.onnx, dataset: digits}", ["m.yaml:5:40: models: belongs to models that learn; an ONNX file is fed numbers by chance; drop this"]),
        ("  - {name: lenet, dimensions: {length: 8}}", ["m.yaml:5:19: models: belongs to an ONNX file; add file: NAME.onnx, or drop this"]),
        ("  - {name: ours, file: nets/ours.onnx}\n  - {name: ours, file: nets/fixed.onnx}", ["m.yaml:6:5: models: ours is another network on line 5; give one of them another name"]),
        ("  - {name: ours, file: nets/text.onnx}", ["m.yaml:5:24: models.file: its input 'mask' takes whole numbers, and nothing says which; write inputs: {mask: {below: N}} for numbers from 0 to below N, or {value: 1} for ones", "m.yaml:5:24: models.file: its input 'words' has a dynamic axis 'length' without a size; give it, as in dimensions: {length: 128}"]),
        ("  - {name: ours, file: nets/text.onnx, dimensions: {length: 8}, inputs: {mask: {}}}", ["m.yaml:5:80: models.inputs.mask: has below or value; keep one of them"]),
    ],
)  # fmt: skip
def test_each_mistake_is_one_line_with_its_place(
    folder: Path, known: catalog.Catalog, models: Models, entry: str, messages: list[str]
) -> None:
    assert refusal(folder, known, models, entry) == messages


def test_a_fixed_batch_beyond_what_is_planned_is_a_mistake(
    folder: Path, known: catalog.Catalog, models: Models
) -> None:
    exported.saved(exported.image_network(5000), folder / "nets" / "large.onnx")

    (line,) = refusal(folder, known, models, "  - {name: large, file: nets/large.onnx}")

    assert "a fixed batch of 5,000; export it with one of 4,096 at most" in line


def test_a_multiple_of_the_batch_allows_one_batch_size(folder: Path, known: catalog.Catalog, models: Models) -> None:
    model = exported.image_network()
    model.graph.input.append(helper.make_tensor_value_info("pairs", TensorProto.FLOAT, ["2*batch", 4]))
    exported.saved(model, folder / "nets" / "two.onnx")
    entry = "{name: two, file: nets/two.onnx, dimensions: {2*batch: 8}}"

    (cell,) = planned(
        folder, known, models, f"version: 1\nframeworks: [onnxruntime==1.20.1]\nmodes: [infer]\nmodels: [{entry}]\n"
    ).cells
    (line,) = refusal(folder, known, models, f"  - {entry[:-1]}, batch_size: 8}}")

    assert (cell.workload.batch_size, cell.parity_batch) == (4, 4)
    assert line.endswith("the sizes of its axes allow a batch of 4, not 8; give it an entry of its own")


def test_networks_are_among_the_models_of_a_matrix(folder: Path, models: Models) -> None:
    """The command `models` lists them, whatever else is wrong with the matrix."""
    (folder / "m.yaml").write_text(TEXT + "nonsense: 1\n")

    own = matrix.own_models(folder / "m.yaml", models)

    assert {name: info.network.entry for name, info in own.items() if info.network} == {"ours": "ours.onnx"}
