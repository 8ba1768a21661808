# ruff: noqa: E501 — each message stands on one line, as it is printed
from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.catalog import shipped_catalog, shipped_models
from orchestrator.devices import Allocation
from orchestrator.domain import Framework, System
from orchestrator.errors import InputError
from orchestrator.matrix.values.variables import OURS
from orchestrator.runtimes import variables

WRONG = """\
m.yaml:5:10: options.noop: 'A-B' is no name of an environment variable: letters, digits and _
m.yaml:6:10: options.noop: OMP_NUM_THREADS is set by the runtime, from `systems` and the image; drop this
m.yaml:7:20: options.noop.env.FAST: env.FAST takes text: write "true" or "1" in quotes"""


def test_every_mistake_in_an_environment_variable_is_named(
    tmp_path: Path, known: catalog.Catalog, models: dict[str, catalog.ModelInfo]
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\noptions: {noop: {\n"
        "         env.A-B: 1,\n         env.OMP_NUM_THREADS: 4,\n         env.FAST: true}}\n"
    )

    with pytest.raises(InputError) as caught:
        matrix.load(path, known, models)

    assert [message.removeprefix(f"{tmp_path}/") for message in caught.value.messages] == WRONG.splitlines()


FIXED = """\
m.yaml:5:13: options.*: KERAS_BACKEND is fixed by the catalog for keras and keras3; drop this, or bring an image of your own
m.yaml:6:13: options.keras: THEANO_FLAGS is fixed by the catalog for keras; drop this, or bring an image of your own
m.yaml:10:16: frameworks.options: BENCH_COMPILE_CACHE is fixed by the catalog for keras; drop this, or bring an image of your own
m.yaml:14:5: include: KERAS_BACKEND is fixed by the catalog for keras3; drop this, or bring an image of your own"""


def test_a_matrix_cannot_set_catalog_variables(tmp_path: Path) -> None:
    """An environment variable that the catalog sets is not for a matrix to set."""
    path = tmp_path / "m.yaml"
    path.write_text(
        "version: 1\nmodels: [lenet]\nsystems: {cpu: {}}\noptions:\n"
        '  "*":     {env.KERAS_BACKEND: theano}\n  keras:   {env.THEANO_FLAGS: openmp=True}\n'
        "  mxnet:   {env.KERAS_BACKEND: theano}\n"
        "frameworks:\n  - mxnet==1.9.1\n"
        "  - {options: {env.BENCH_COMPILE_CACHE: /tmp}, name: keras, version: 2.0.8, backend: theano==0.9.0}\n"
        "  - keras3==3.15.1 on jax==0.12.0.1\n"
        "include:\n  - framework: keras3==3.15.1 on torch==2.13.0\n    env.KERAS_BACKEND: jax\n    system: cpu\n"
        "    model: lenet\n"
    )

    with pytest.raises(InputError) as caught:
        matrix.load(path, shipped_catalog(), shipped_models())

    assert [message.removeprefix(f"{tmp_path}/") for message in caught.value.messages] == FIXED.splitlines()


def test_an_own_image_takes_any_variable(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "version: 1\nmodels: [lenet]\noptions: {keras: {env.KERAS_BACKEND: theano}}\n"
        "frameworks: [{name: keras, image: 'a:1', options: {env.THEANO_FLAGS: openmp=True}}]\n"
    )

    assert matrix.load(path, shipped_catalog(), shipped_models()).frameworks[0].image == "a:1"


def test_what_the_catalog_sets_is_in_its_environments() -> None:
    known = shipped_catalog()
    theano = known.environment(Framework("keras", "2.0.8", Framework("theano", "0.9.0")), 0)

    assert {name for name, _ in theano.variables} == known.variables("keras")
    assert known.variables("mxnet") == known.variables("no such framework") == frozenset()


def test_a_matrix_cannot_set_runtime_variables() -> None:
    """Every environment variable that the runtimes set is among those that a matrix may not set."""
    given = Allocation((0, 1))

    assert set(variables.in_container(System("cpu"), given)) <= OURS
    assert set(variables.in_process(given, path="", home="")) <= OURS


def test_a_scripts_environment_obeys_the_same_rule(
    tmp_path: Path, known: catalog.Catalog, models: dict[str, catalog.ModelInfo]
) -> None:
    """The environment of a script obeys the same rule as environment variables among the options."""
    path = tmp_path / "m.yaml"
    (tmp_path / "s.py").write_text("")
    path.write_text(
        "version: 1\nframeworks: [noop==1]\nscripts:\n  - name: s\n    file: s.py\n    environment:\n"
        '      OMP_NUM_THREADS: "4"\n      TWO: "one\\ntwo"\n      FINE: 3\n'
        "    metrics: {m: {pattern: x, unit: s, better: lower}}\n"
    )

    with pytest.raises(InputError) as caught:
        matrix.load(path, known, models)

    place = "scripts.environment"
    assert [message.removeprefix(f"{tmp_path}/") for message in caught.value.messages] == [
        f"m.yaml:7:7: {place}: OMP_NUM_THREADS is set by the runtime, from `systems` and the image; drop this",
        f"m.yaml:8:12: {place}.TWO: TWO takes one line of text",
    ]
