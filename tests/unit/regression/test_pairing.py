"""A matrix and two sides become a plan in which every cell has its counterpart."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.regression.pairing import Pairing, Selection

Pair = Callable[..., Pairing]


def ids(found: Pairing) -> list[tuple[str, str, str]]:
    return [(each.id, each.baseline, each.candidate) for each in found.pairs]


def test_both_sides_replace_the_frameworks(pair: Pair) -> None:
    """Both sides take the place of the frameworks, and all other axes stay."""
    found = pair(
        "mxnet==1.5.1",
        "mxnet==1.9.1",
        "frameworks: [mxnet==1.8.0, torch==2.13.0]\nsystems: {small: {cpus: 1}, large: {cpus: 4}}\n"
        "models: [lenet, {name: mlp, batch_size: [8, 16]}]\noptions: {mxnet: {hybridize: [true, false]}}",
    )

    assert len(found.pairs) == 2 * 3 * 2
    assert ids(found)[:2] == [
        ("small/lenet-train-b200", "mxnet-1.5.1-small/lenet-train-b200", "mxnet-1.9.1-small/lenet-train-b200"),
        (
            "small/lenet-train-b200-hybridize=false",
            "mxnet-1.5.1-small/lenet-train-b200-hybridize=false",
            "mxnet-1.9.1-small/lenet-train-b200-hybridize=false",
        ),
    ]
    assert {cell.framework.version for cell in found.plan.cells} == {"1.5.1", "1.9.1"}
    assert [cell.id for cell in found.plan.cells] == [
        name for each in found.pairs for name in (each.baseline, each.candidate)
    ]
    assert [image.name for image in found.plan.images] == ["bench/mxnet:1.5.1-cpu", "bench/mxnet:1.9.1-cpu"]


def test_a_self_comparison_is_two_cells(pair: Pair) -> None:
    """A release that is compared with itself is two cells of one image."""
    found = pair("mxnet==1.9.1", "mxnet==1.9.1")

    assert ids(found) == [
        (
            "cpu/lenet-train-b200",
            "mxnet-1.9.1-cpu-side=baseline/lenet-train-b200",
            "mxnet-1.9.1-cpu-side=candidate/lenet-train-b200",
        )
    ]
    assert [image.name for image in found.plan.images] == ["bench/mxnet:1.9.1-cpu"]
    assert {cell.image for cell in found.plan.cells} == {"bench/mxnet:1.9.1-cpu"}


def test_packages_tell_two_environments_of_one_release_apart(pair: Pair) -> None:
    found = pair("mxnet==1.9.1,numpy==1.22.4", "mxnet==1.9.1,numpy==1.23.5")

    assert ids(found) == [
        (
            "cpu/lenet-train-b200",
            "mxnet-1.9.1-numpy=1.22.4-cpu/lenet-train-b200",
            "mxnet-1.9.1-numpy=1.23.5-cpu/lenet-train-b200",
        )
    ]


def pythons(found: Pairing) -> set[str]:
    return {cell.framework.python for cell in found.plan.cells}


def test_both_sides_share_a_python(pair: Pair) -> None:
    """Both sides run on the same Python if there is one that runs both."""
    assert pythons(pair("mxnet==1.5.1", "mxnet==1.9.1")) == {"3.11"}
    assert pythons(pair("mxnet==1.4.1", "mxnet==1.9.1")) == {"3.6"}
    assert pythons(pair("mxnet==1.9.1", "mxnet==1.4.1")) == {"3.6"}


def test_the_matrix_python_stays_if_possible(pair: Pair) -> None:
    """The Python of the matrix stays if both sides run on it."""
    wanted = 'frameworks: [{name: mxnet, version: 1.9.1, python: "3.8"}]'

    assert pythons(pair("mxnet==1.5.1", "mxnet==1.8.0", wanted)) == {"3.8"}


def test_a_python_axis_is_paired_one_by_one(pair: Pair) -> None:
    found = pair("mxnet==1.5.1", "mxnet==1.9.1", 'frameworks: [{name: mxnet, version: 1.9.1, python: ["3.8", "3.11"]}]')

    assert [each.id for each in found.pairs] == [
        "cpu-python=3.8/lenet-train-b200",
        "cpu-python=3.11/lenet-train-b200",
    ]


def test_no_common_python_is_a_warning(pair: Pair) -> None:
    """If no Python runs both sides, a warning says so."""
    found = pair("tensorflow==1.15", "tensorflow==2.1", "frameworks: [tensorflow==2.1]")

    assert pythons(found) == {"3.6", "3.11"}
    assert found.plan.warnings == ("no Python runs both sides: Python 3.6 against 3.11; what differs may come of that",)


def test_one_sided_cells_are_not_measured(pair: Pair) -> None:
    """A cell that only one side can do is gone or new with its reason and is not measured."""
    lines = "systems: {cpu: {cpus: 1}, 1_gpu: {gpus: 1}}"
    found = pair("mxnet==1.9.1", "mxnet==1.4.1", lines)
    back = pair("mxnet==1.4.1", "mxnet==1.9.1", lines)

    assert [each.id for each in found.pairs] == ["cpu/lenet-train-b200"]
    assert [each.cell_id for each in found.gone] == ["mxnet-1.9.1-python=3.6-1_gpu/lenet-train-b200"]
    assert "no GPU build of mxnet 1.4.1" in found.gone[0].reason
    assert [each.id for each in back.new] == ["1_gpu/lenet-train-b200"]
    assert all(cell.system.name == "cpu" for cell in found.plan.cells)
    assert any(skip.reason.startswith("only the baseline can do this") for skip in found.plan.skips)


def test_an_entry_gives_a_side_its_image(pair: Pair, tmp_path: Path) -> None:
    """An entry of the matrix for the release of a side gives that side its own image."""
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    found = pair("noop==1", "noop==slow", "frameworks: [noop==1, {name: noop, version: slow, dockerfile: Dockerfile}]")

    assert ids(found) == [
        ("cpu/lenet-train-b200", "noop-1-cpu/lenet-train-b200", "noop-slow-dockerfile-cpu/lenet-train-b200")
    ]
    assert [cell.framework.dockerfile for cell in found.plan.cells] == [None, str(tmp_path / "Dockerfile")]


def test_an_include_adds_to_both_sides(pair: Pair) -> None:
    """Cells that an include adds to one release are added to both sides."""
    found = pair(
        "mxnet==1.5.1",
        "mxnet==1.9.1",
        "systems: {cpu: {cpus: 1}}\n"
        "include:\n- {framework: mxnet==1.9.1, system: cpu, model: mlp}\n"
        "- {framework: torch==2.13.0, system: cpu, model: mlp}",
    )

    assert [each.id for each in found.pairs] == ["cpu/lenet-train-b200", "cpu/mlp-train-b32"]
    assert (found.gone, found.new) == ((), ())


def test_a_glob_for_one_cell_selects_both(pair: Pair) -> None:
    """A glob that matches one cell of a pair selects both."""
    lines = "models: [lenet, mlp]"
    selected = pair("mxnet==1.5.1", "mxnet==1.9.1", lines, Selection(select=("mxnet-1.9.1-cpu/mlp*",)))
    excluded = pair("mxnet==1.5.1", "mxnet==1.9.1", lines, Selection(exclude=("lenet-*",)))

    assert [each.id for each in selected.pairs] == [each.id for each in excluded.pairs] == ["cpu/mlp-train-b32"]
    assert len(selected.plan.cells) == 2
    assert len(selected.plan.models) == 0


@pytest.mark.parametrize(
    ("sides", "lines", "said"),
    [
        (
            ("mxnet==1.5.1", "torch==2.13.0"),
            "",
            "mxnet==1.5.1 and torch==2.13.0 are different frameworks, not releases of one; `orchestrator run` compares",
        ),
        (
            ("torch==2.1", "torch==2.13.0"),
            "",
            "{path}: frameworks: no entry of 'torch', which is what is to be tested; there is mxnet",
        ),
        (
            ("mxnet==1.5.1", "mxnet==9"),
            "",
            "mxnet==9: {path}: expands to nothing: all 1 cells are left out: the catalog knows mxnet >=1.2,<1.10",
        ),
    ],
)
def test_an_impossible_pairing_is_one_clear_error(
    pair: Pair, tmp_path: Path, sides: tuple[str, str], lines: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        pair(*sides, lines)

    (message,) = caught.value.messages
    assert message.startswith(said.replace("{path}", str(tmp_path / "m.yaml")))


def test_a_glob_that_selects_nothing_is_an_error(pair: Pair) -> None:
    with pytest.raises(
        InputError, match=r"--select 'vgg\*' matches no pair of cells; there is, for example, cpu/lenet"
    ):
        pair("mxnet==1.5.1", "mxnet==1.9.1", "", Selection(select=("vgg*",)))


def test_a_study_is_paired_without_its_claims(pair: Pair) -> None:
    claim = (
        "claims:\n  - {name: a, text: a claim, metric: throughput, of: {model: lenet}, over: {model: mlp}, "
        "published: {ratio: 2}, source: table 1}"
    )
    found = pair("mxnet==1.5.1", "mxnet==1.9.1", f"models: [lenet, mlp]\n{claim}")

    assert len(found.pairs) == 2
    assert found.plan.study is None
