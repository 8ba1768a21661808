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


def test_the_long_form_names_the_models_folder(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """The long form names the folder of models, so that it loads alike from elsewhere."""
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


def test_model_mistakes_come_with_those_of_the_matrix(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """Mistakes of models are reported with those of the matrix, each of them once."""
    (folder / "mine" / "wide.py").write_text("TITLE = 5\n")
    (folder / "mine" / "mlp.py").write_text(MODEL)
    (folder / "m.yaml").write_text(TEXT + "repeats: 0\n")

    assert refusal(folder, known, models) == [
        "m.yaml:5:10: repeats: should be at least 1, not 0",
        "mine/wide.py:1:9: not a model: TITLE must be a literal str at the top of the file",
        "mine/mlp.py:1:1: a model 'mlp' is there already; give the file another name",
    ]


def test_a_linked_model_from_elsewhere_is_refused(
    folder: Path, known: catalog.Catalog, models: Models, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A model or definition that a link takes from elsewhere is refused unless its folder says so."""
    outside = tmp_path_factory.mktemp("outside")
    for path, text in (("far.py", MODEL), ("far/torch.py", "OPTIONS = []\n\n\ndef start(workload):\n    pass\n")):
        (outside / path).parent.mkdir(exist_ok=True)
        (outside / path).write_text(text)
    (folder / "mine" / "far.py").symlink_to(outside / "far.py")
    (folder / "mine" / "near.py").symlink_to("wide.py")
    (folder / "mine" / "wide").symlink_to(outside / "far")

    why = "leads out of the folder of the matrix through a link; copy the file there instead"
    assert refusal(folder, known, models) == [
        f"mine/wide/torch.py:1:1: not a definition: {why}",
        f"mine/far.py:1:1: not a model: {why}",
    ]
    (folder / "m.yaml").write_text(TEXT.replace("mine", str(outside)).replace("wide", "far"))
    assert [own.name for own in matrix.load(folder / "m.yaml", known, models).own_models] == ["far"]
    (folder / "linked").symlink_to(outside)
    (folder / "m.yaml").write_text(TEXT.replace("mine", "linked").replace("wide", "far"))
    (mistake,) = refusal(folder, known, models)
    assert "'linked' leads out of the folder of the matrix" in mistake


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("nowhere", ["m.yaml:2:16: models_folder: there is no folder 'nowhere'; relative paths start at the folder of the matrix"]),
        ("m.yaml", ["m.yaml:2:16: models_folder: there is no folder 'm.yaml'; relative paths start at the folder of the matrix"]),
        ("''", ["m.yaml:2:16: models_folder: is empty"]),
        ("[mine]", ["m.yaml:2:16: models_folder: should be a word, not a list"]),
    ],
)  # fmt: skip
def test_a_bad_models_folder_is_reported_in_place(
    folder: Path, known: catalog.Catalog, models: Models, value: str, messages: list[str]
) -> None:
    """A folder of models that is none is reported as a mistake at its place in the matrix."""
    (folder / "m.yaml").write_text(TEXT.replace(": mine", f": {value}").replace(", wide", ""))

    assert refusal(folder, known, models) == messages
