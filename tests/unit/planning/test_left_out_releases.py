"""Releases that a matrix names and the catalog has no environment for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import catalog, matrix, planning
from tests.unit.planning.conftest import Models, Planner

Ask = Callable[..., list[str]]
UNKNOWN = (
    "m.yaml:1:14: frameworks: mxnet 9.9 is left out: the catalog knows mxnet >=1.2,<1.10, not 9.9; "
    "add a line to images/catalog/mxnet.yaml; there is 1.9.1, 1.5.1"
)


@pytest.fixture
def left_out(plan: Planner, known: catalog.Catalog, models: Models, tmp_path: Path) -> Ask:
    def ask(text: str, *select: str) -> list[str]:
        planned = plan(text, select=select)
        loaded = matrix.load(plan.path, known, models)
        return [line.replace(f"{tmp_path}/", "") for line in planning.left_out(loaded, known, models, planned)]

    return ask


def test_an_unknown_release_is_named_once(left_out: Ask) -> None:
    assert left_out("frameworks: [mxnet==9.9, noop==1]\nmodes: [train, infer]") == [UNKNOWN]


def test_every_unknown_release_has_its_close_match(left_out: Ask) -> None:
    lines = left_out("frameworks: [mxnet==1.9.2, mxnet==9.9, noop==1, mxnet==1.10.1]")

    assert [line.partition(" is left out")[0].rpartition("frameworks: ")[2] for line in lines] == [
        "mxnet 9.9",
        "mxnet 1.10.1",
    ]
    assert lines[-1].endswith("; did you mean '1.9.1'?")


def test_what_include_adds_is_named_too(left_out: Ask) -> None:
    (line,) = left_out("frameworks: [noop==1]\ninclude: [{framework: mxnet==9.9, system: cpu, model: lenet}]")

    assert line.startswith("m.yaml:2:11: frameworks: mxnet 9.9 is left out: ")


def test_excluded_or_unselected_releases_are_not_named(left_out: Ask) -> None:
    """A cell that nobody wants measured is not missing."""
    assert left_out("frameworks: [mxnet==9.9, noop==1]\nexclude: [{framework: mxnet==9.9}]") == []
    assert left_out("frameworks: [mxnet==9.9, noop==1]", "noop-*") == []


def test_the_line_names_the_unknown_backend(left_out: Ask) -> None:
    """If a backend is the unknown release, it is the one that the line names."""
    (line,) = left_out("frameworks: [keras-mxnet==2.2.4.3 on mxnet==9.9, noop==1]")

    assert "keras-mxnet 2.2.4.3 on mxnet 9.9 is left out: the catalog knows mxnet" in line
    assert line.endswith("; there is 1.9.1, 1.5.1")


def test_a_missing_build_is_no_unknown_release(left_out: Ask) -> None:
    """A system for which the catalog has no build does not make a release unknown."""
    text = "frameworks: [mxnet-mkl==1.6.0, noop==1]\nsystems: {cpu: {}, 1_gpu: {gpus: 1}}"

    assert left_out(text) == []
