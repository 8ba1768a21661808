from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.devices import Allocation
from orchestrator.domain import System
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


def test_what_the_runtimes_set_is_not_for_a_matrix_to_set() -> None:
    given = Allocation((0, 1))

    assert set(variables.in_container(System("cpu"), given)) <= OURS
    assert set(variables.in_process(given, path="", home="")) <= OURS


def test_a_scripts_environment_is_held_to_the_same_rule(
    tmp_path: Path, known: catalog.Catalog, models: dict[str, catalog.ModelInfo]
) -> None:
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
