# ruff: noqa: E501 — each message stands on one line, as it is printed
"""Scripts that ask for a copy of their files, and figures that are read from what they write."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.errors import InputError
from orchestrator.planning import script_document
from orchestrator.results.records import plan_to_json
from orchestrator.user_files import Workdir

Models = dict[str, catalog.ModelInfo]
FILE = """\
version: 1
frameworks: [mxnet==1.9.1]
scripts:
  - name: lm
    file: scripts/train.py
    files: [old.csv]
    workdir: copy
    metrics:
      speed: {pattern: 'speed (.*)', unit: samples/s, better: higher, file: logs/train.csv}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text("print('speed 1')")
    (tmp_path / "scripts" / "old.csv").write_text("speed 1")
    return tmp_path


def load(folder: Path, known: catalog.Catalog, models: Models, text: str) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", known, models)


def test_a_script_asks_for_a_copy(folder: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(folder, known, models, FILE)

    (axes,) = loaded.scripts
    assert axes.script.workdir is Workdir.COPY
    assert axes.script.metrics[0].file == "logs/train.csv"
    assert load(folder, known, models, yaml.safe_dump(matrix.long_form(loaded), sort_keys=False)) == loaded
    assert script_document(axes.script)["workdir"] == "copy"
    jsonschema.validate(yaml.safe_load(FILE), matrix.schema())


def test_a_script_without_the_keys_is_planned_alike(folder: Path, known: catalog.Catalog, models: Models) -> None:
    text = FILE.replace("    workdir: copy\n", "").replace(", file: logs/train.csv", "")
    loaded = load(folder, known, models, text)

    (cell,) = plan_to_json(planning.plan(loaded, known, models))["cells"]
    assert "workdir" not in cell["script"]
    assert "file" not in cell["script"]["metrics"][0]
    (entry,) = matrix.long_form(loaded)["scripts"]
    assert "file" not in entry["metrics"]["speed"]
    assert "workdir" not in entry
    assert "workdir" not in script_document(loaded.scripts[0].script)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("logs/train.csv", "../x"), "9:77: scripts.metrics.speed.file: '../x' leads out of the working directory, or is no plain relative path; write a path such as logs/train.csv"),
        (("logs/train.csv", "/etc/passwd"), "9:77: scripts.metrics.speed.file: '/etc/passwd' leads out of the working directory, or is no plain relative path; write a path such as logs/train.csv"),
        (("logs/train.csv", "old.csv"), "9:77: scripts.metrics.speed.file: 'old.csv' is one of the script's own files, with figures from before the run; name one that it writes"),
        (("logs/train.csv", "''"), "9:77: scripts.metrics.speed.file: is empty"),
        (("workdir: copy", "workdir: read-only"), "9:77: scripts.metrics.speed.file: needs `workdir: copy` too; without that the script cannot write into its working directory"),
        (("workdir: copy", "workdir: shared"), "7:14: scripts.workdir: should be 'read-only' or 'copy', not 'shared'"),
    ],
)  # fmt: skip
def test_a_wrong_workdir_or_file_is_told(
    folder: Path, known: catalog.Catalog, models: Models, change: tuple[str, str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(folder, known, models, FILE.replace(*change))

    assert f"{folder}/m.yaml:{said}" in caught.value.messages
