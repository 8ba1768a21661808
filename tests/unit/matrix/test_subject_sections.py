"""The section of a mode that has subjects of its own: operators, with their axes."""

from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix
from orchestrator.domain import Mode
from orchestrator.errors import InputError
from orchestrator.modes import OF_SUBJECTS

HEAD = "version: 1\nframeworks: [mxnet==1.9.1]\n"
Known = catalog.Catalog
Models = dict[str, catalog.ModelInfo]


def loaded(folder: Path, text: str, known: Known, models: Models) -> matrix.Matrix:
    path = folder / "m.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    return matrix.load(path, known, models)


def test_a_name_stands_for_all_of_an_entry(tmp_path: Path, known: Known, models: Models) -> None:
    (entry,) = loaded(tmp_path, "ops: [gemm]", known, models).subjects

    assert (entry.mode, entry.names, entry.axes) == (Mode("ops"), ("gemm",), ())


def test_an_entry_without_a_name_means_every_operator(tmp_path: Path, known: Known, models: Models) -> None:
    (entry,) = loaded(tmp_path, "ops: [{size: [50, 550], repeats: 5}]", known, models).subjects

    assert entry.names == OF_SUBJECTS["ops"].names
    assert entry.axes == (("size", (50, 550)),)
    assert entry.settings.repeats == 5


def test_operators_need_no_models_beside_them(tmp_path: Path, known: Known, models: Models) -> None:
    assert loaded(tmp_path, "ops: [gemm]", known, models).models == ()


def test_the_long_form_loads_as_an_equal_matrix(tmp_path: Path, known: Known, models: Models) -> None:
    short = loaded(tmp_path, "ops: [gemm, {operator: [dot, relu], size: 500, timeout: 90s}]", known, models)

    text = yaml.safe_dump(matrix.long_form(short))
    (tmp_path / "long.yaml").write_text(text)
    assert matrix.load(tmp_path / "long.yaml", known, models).subjects == short.subjects


def test_an_axis_rule_survives_the_long_form(tmp_path: Path, known: Known, models: Models) -> None:
    """A rule with an axis of an operator loads from the long form as it was."""
    rules = "exclude: [{mode: ops, size: [50, 60], hybridize: true}, {model: gemm, tries: 6}]"
    short = loaded(tmp_path, f"ops: [gemm]\n{rules}", known, models)

    assert [(rule.axes, rule.options) for rule in short.exclude] == [
        ((("size", (50, 60)),), (("hybridize", (True,)),)),
        ((("tries", (6,)),), ()),
    ]
    (tmp_path / "long.yaml").write_text(yaml.safe_dump(matrix.long_form(short)))
    assert matrix.load(tmp_path / "long.yaml", known, models).exclude == short.exclude


def test_a_matrix_without_operators_has_no_such_key(tmp_path: Path, known: Known, models: Models) -> None:
    assert "ops" not in matrix.long_form(loaded(tmp_path, "models: [lenet]", known, models))


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("ops: [gemm]\nexclude: [{size: large}]", "m.yaml:4:18: exclude.size: large is no size of an operator"),
        ("ops: [gemm]\nexclude: [{size: 0}]", "0 is no size of an operator, which is a whole number of 1 or more"),
        ("ops: [gemm]\nexclude: [{sise: 50}]", "unknown key or option 'sise'; did you mean 'size'?"),
        ("ops: [gem]", "m.yaml:3:7: ops.operator: should be 'tensor_from_numpy', "),
        ("ops: [gem]", "not 'gem'; did you mean 'gemm'?"),
        ("ops: [{operator: gemm, sizes: 5}]", "m.yaml:3:24: ops: unknown key 'sizes'; did you mean 'size'?"),
        (
            "ops: [{operator: gemm, size: 10001}]",
            "m.yaml:3:30: ops.size: 10,001 is more than the 10,000 that gemm",
        ),
        ("ops: [{operator: relu, seeds: 0}]", "m.yaml:3:31: ops.seeds: should be at least 1, not 0"),
        ("ops: [{operator: relu, epochs: 3}]", "ops: unknown key 'epochs'"),
        ("ops: [3]", "should be a name such as tensor_from_numpy, or a mapping, not 3"),
        ("ops: []", "'models' is missing"),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, known: Known, models: Models, text: str, mistake: str) -> None:
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, text, known, models)

    assert mistake in str(caught.value)


def test_a_vector_may_be_longer_than_a_matrix(tmp_path: Path, known: Known, models: Models) -> None:
    """The size of a vector may be larger than the number of rows that a matrix may have."""
    assert loaded(tmp_path, "ops: [{operator: relu, size: 10001}]", known, models).subjects
