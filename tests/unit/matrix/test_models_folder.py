# ruff: noqa: E501 — each message stands on one line, as it is printed
"""`models_folder`: models of the user's own in a matrix."""

from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.errors import InputError
from tests.documented import blocks

(MODEL,) = blocks("models.md", "A model of your own", "python")
Models = dict[str, catalog.ModelInfo]
TEXT = "version: 1\nmodels_folder: mine\nframeworks: [mxnet==1.9.1]\nmodels: [lenet, wide]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wide.py").write_text(MODEL)
    (tmp_path / "m.yaml").write_text(TEXT)
    return tmp_path


def refusal(folder: Path, known: catalog.Catalog, models: Models) -> list[str]:
    with pytest.raises(InputError) as caught:
        matrix.load(folder / "m.yaml", known, models)
    return [message.replace(f"{folder}/", "") for message in caught.value.messages]


def test_its_models_are_planned_with_their_file(folder: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = matrix.load(folder / "m.yaml", known, models)

    found = planning.plan(loaded, known, models)

    assert [cell.id for cell in found.cells] == ["mxnet-1.9.1-cpu/lenet-train-b200", "mxnet-1.9.1-cpu/wide-train-b64"]
    assert [(model.name, model.source) for model in found.models] == [("wide", MODEL)]
    only = planning.plan(loaded, known, models, planning.Selection(("*lenet*",)))
    assert only.models == ()


def test_the_long_form_names_the_folder_and_loads_alike(folder: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = matrix.load(folder / "m.yaml", known, models)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "long.yaml").write_text(yaml.safe_dump(matrix.long_form(loaded)))

    again = matrix.load(elsewhere / "long.yaml", known, models)

    assert again == loaded
    assert again.own_models == loaded.own_models


def test_include_adds_cells_of_own_models_too(folder: Path, known: catalog.Catalog, models: Models) -> None:
    text = TEXT.replace("[lenet, wide]", "[lenet]")
    (folder / "m.yaml").write_text(text + "include: [{framework: mxnet==1.9.1, system: cpu, model: wide}]\n")

    found = planning.plan(matrix.load(folder / "m.yaml", known, models), known, models)

    assert [cell.id for cell in found.cells][1:] == ["mxnet-1.9.1-cpu/wide-train-b64"]


def test_mistakes_of_models_come_with_those_of_the_matrix_and_each_once(
    folder: Path, known: catalog.Catalog, models: Models
) -> None:
    (folder / "mine" / "wide.py").write_text("TITLE = 5\n")
    (folder / "mine" / "mlp.py").write_text(MODEL)
    (folder / "m.yaml").write_text(TEXT + "repeats: 0\n")

    assert refusal(folder, known, models) == [
        "m.yaml:5:10: repeats: should be at least 1, not 0",
        "mine/wide.py:1: not a model: TITLE must be a literal str at the top of the file",
        "mine/mlp.py:1: a model 'mlp' is there already; give the file another name",
    ]


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("nowhere", ["m.yaml:2:16: models_folder: there is no folder 'nowhere'; relative paths start at the folder of the matrix"]),
        ("m.yaml", ["m.yaml:2:16: models_folder: there is no folder 'm.yaml'; relative paths start at the folder of the matrix"]),
        ("''", ["m.yaml:2:16: models_folder: is empty"]),
        ("[mine]", ["m.yaml:2:16: models_folder: should be a word, not a list"]),
    ],
)  # fmt: skip
def test_a_folder_that_is_none_is_a_mistake_at_its_place(
    folder: Path, known: catalog.Catalog, models: Models, value: str, messages: list[str]
) -> None:
    (folder / "m.yaml").write_text(TEXT.replace(": mine", f": {value}").replace(", wide", ""))

    assert refusal(folder, known, models) == messages
