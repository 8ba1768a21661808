# ruff: noqa: E501 — each message stands on one line, as it is printed
"""`scripts`: foreign programs in a matrix, and what they become in a plan."""

import hashlib
import os
from pathlib import Path

import jsonschema
import pytest
import yaml

from orchestrator import catalog, limits, matrix, planning
from orchestrator.domain import Mode, Plan
from orchestrator.errors import InputError
from orchestrator.user_files import PrintedMetric, ScriptFile, Take
from tests.documented import introduction

(DOCUMENTED,) = introduction("scripts.md", "yaml")
Models = dict[str, catalog.ModelInfo]
FILE = "version: 1\nframeworks: [mxnet==1.9.1, torch==2.13.0]\n"
ENTRY = "{name: lm, file: scripts/train.py, metrics: {speed: {pattern: 'speed (.*)', unit: samples/s, better: higher}}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text("print('speed 1')")
    return tmp_path


def load(folder: Path, known: catalog.Catalog, models: Models, text: str) -> matrix.Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix.load(folder / "m.yaml", known, models)


def planned(folder: Path, known: catalog.Catalog, models: Models, text: str) -> Plan:
    return planning.plan(load(folder, known, models, text), known, models)


def test_the_documented_matrix_is_one_script_cell(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """The documented matrix gives one cell of a script, with its metrics."""
    found = planned(folder, known, models, DOCUMENTED)

    (cell,) = found.cells
    assert (cell.id, cell.workload.mode, cell.options, cell.repeats) == (
        "mxnet-1.9.1-cpu/word-lm-script",
        Mode.SCRIPT,
        (),
        2,
    )
    assert cell.script is not None
    source = b"print('speed 1')"
    assert cell.script.entry == "train.py"
    assert cell.script.files == (ScriptFile("train.py", len(source), hashlib.sha256(source).hexdigest()),)
    assert str(folder) not in str(found), "a plan names no place on a host"
    assert (cell.script.arguments, cell.script.environment) == (("--epochs", "3"), (("GREETING", "hello"),))
    assert cell.script.metrics == (
        PrintedMetric("speed", "speed: ([0-9.]+) samples/sec", "samples/s", PrintedMetric.Better.HIGHER, Take.ALL),
        PrintedMetric("loss", r"final loss = (?P<value>\S+),", "nats", PrintedMetric.Better.LOWER, Take.LAST),
    )
    jsonschema.validate(yaml.safe_load(DOCUMENTED), matrix.schema())


def test_a_script_is_one_cell_per_framework(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """A script gives one cell in every framework that it is for, whatever the options of these."""
    text = FILE + f"options: {{mxnet: {{hybridize: [true, false]}}}}\nmodels: [lenet]\nscripts: [{ENTRY}]\n"

    ids = [cell.id for cell in planned(folder, known, models, text).cells]

    assert [cell_id for cell_id in ids if "lm" in cell_id] == [
        "mxnet-1.9.1-cpu/lm-script",
        "torch-2.13.0-cpu/lm-script",
    ]
    assert len(ids) == 5
    only = planned(folder, known, models, text.replace("{name: lm,", "{name: lm, framework: mxnet<2,"))
    assert [cell.id for cell in only.cells if cell.script] == ["mxnet-1.9.1-cpu/lm-script"]


def test_rules_know_scripts_by_their_name(folder: Path, known: catalog.Catalog, models: Models) -> None:
    text = (
        FILE + f"scripts: [{ENTRY}]\nexclude: [{{model: lm, framework: torch}}]\ninclude: [{{model: lm, repeats: 7}}]\n"
    )

    found = planned(folder, known, models, text)

    assert [(cell.id, cell.repeats) for cell in found.cells] == [("mxnet-1.9.1-cpu/lm-script", 7)]
    assert [skip.cell_id for skip in found.skips] == ["torch-2.13.0-cpu/lm-script"]


def test_the_long_form_loads_alike(folder: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = load(folder, known, models, DOCUMENTED + "models: [lenet]\n")

    again = load(folder, known, models, yaml.safe_dump(matrix.long_form(loaded), sort_keys=False))

    assert again == loaded


def test_every_mistake_is_told_with_its_place(folder: Path, known: catalog.Catalog, models: Models) -> None:
    text = """\
version: 1
frameworks: [mxnet==1.9.1]
scripts:
  - {name: lenet, file: scripts/none.py, metrics: {}}
  - {name: a, file: scripts/train.py, framework: pytorh, metrics: {speed: {patern: x, unit: u, better: up}}}
  - name: a
    file: scripts/train.py
    environment: {1x: a}
    timeout: soon
    metrics:
      2: {pattern: x, unit: u, better: lower}
      two: {pattern: '(a)(b)', unit: u, better: lower, take: mean}
      bad: {pattern: '(', unit: '', better: lower}
exclude: [{model: lenett}]
"""
    with pytest.raises(InputError) as caught:
        load(folder, known, models, text)

    assert [message.replace(f"{folder}/", "") for message in caught.value.messages] == [
        "m.yaml:4:12: scripts.name: a model is called 'lenet' already; call the script otherwise",
        "m.yaml:4:25: scripts.file: there is no file 'scripts/none.py'; relative paths start at the folder of the matrix",
        "m.yaml:4:51: scripts.metrics: is empty",
        "m.yaml:5:50: scripts.framework: unknown framework 'pytorh'; did you mean 'torch'?",
        "m.yaml:5:75: scripts.metrics.speed: 'pattern' is missing",
        "m.yaml:5:76: scripts.metrics.speed: unknown key 'patern'; did you mean 'pattern'?",
        "m.yaml:5:104: scripts.metrics.speed.better: should be 'higher' or 'lower', not 'up'",
        "m.yaml:6:11: scripts.name: 'a' is already on line 5",
        "m.yaml:8:19: scripts.environment: '1x' should be the name of an environment variable",
        "m.yaml:9:14: scripts.timeout: 'soon' is no duration; write 90s, 10m, 1h30m or a number of seconds",
        "m.yaml:11:7: scripts.metrics: '2' should be a name of letters, digits, '_', '-' and '.' that begins with a letter",
        "m.yaml:12:22: scripts.metrics.two.pattern: has 2 groups; call the one with the number (?P<value>…)",
        "m.yaml:12:62: scripts.metrics.two.take: should be 'all', 'first' or 'last', not 'mean'",
        "m.yaml:13:22: scripts.metrics.bad.pattern: is no regular expression: missing ), unterminated subpattern at position 0",
        "m.yaml:13:33: scripts.metrics.bad.unit: is empty",
        "m.yaml:14:19: exclude.model: unknown model 'lenett'; did you mean 'lenet'?",
    ]


@pytest.mark.filterwarnings("error")
def test_an_odd_pattern_loads_without_a_warning(folder: Path, known: catalog.Catalog, models: Models) -> None:
    """An oddity in a pattern is not reported next to the mistakes."""
    odd = ENTRY.replace("speed (.*)", "([0-9--x]*)")

    assert load(folder, known, models, f"{FILE}scripts: [{odd}]\n").scripts


def test_a_script_linked_from_elsewhere_is_refused(
    folder: Path, known: catalog.Catalog, models: Models, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A script that is a link out of the folder of the matrix is refused."""
    outside = tmp_path_factory.mktemp("outside") / "train.py"
    outside.write_text("print('speed 1')")
    (folder / "scripts" / "train.py").unlink()
    (folder / "scripts" / "train.py").symlink_to(outside)

    with pytest.raises(InputError, match="leads out of the folder of the matrix through a link"):
        load(folder, known, models, FILE + f"scripts: [{ENTRY}]\n")
    openly = ENTRY.replace("scripts/train.py", str(outside))
    assert load(folder, known, models, FILE + f"scripts: [{openly}]\n").scripts[0].folder == str(outside.parent)


@pytest.mark.parametrize("rest", ["", "scripts: []\n"])
def test_a_matrix_needs_models_or_scripts(folder: Path, known: catalog.Catalog, models: Models, rest: str) -> None:
    """A matrix without models and scripts is refused with a line that says what is missing."""
    with pytest.raises(InputError) as caught:
        load(folder, known, models, FILE + rest)

    assert [message.partition(": ")[2] for message in caught.value.messages] == ["'models' is missing"]


def with_files(folder: Path, files: str, *names: str) -> str:
    """Write files beside the script, and give a matrix whose script declares `files`."""
    for name in names:
        path = folder / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return FILE + f"scripts:\n  - {ENTRY.replace('metrics:', f'files: {files}, metrics:', 1)}\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ("[util.py]", ["util.py"]),
        ("['*.py']", ["util.py"]),
        ("['**/*.py']", ["lib/a.py", "lib/deep/b.py", "util.py"]),
        ("['lib/**/*', util.py, '*.py']", ["lib/a.py", "lib/deep/b.py", "util.py"]),
        ("['[odd].txt']", ["[odd].txt"]),
        ("[.env]", [".env"]),
        ("['.e*']", [".env"]),
        ("['*']", ["[odd].txt", "util.py"]),
        ("['__pycache__/*']", ["__pycache__/util.pyc"]),
    ],
)
def test_a_script_declares_its_files(
    folder: Path, known: catalog.Catalog, models: Models, files: str, found: list[str]
) -> None:
    """Patterns mean what is plain to see; a file whose name holds a bracket is named as it is."""
    names = ("util.py", "lib/a.py", "lib/deep/b.py", "[odd].txt", ".env", ".git/config", "__pycache__/util.pyc")
    loaded = load(folder, known, models, with_files(folder, files, *names))

    (axes,) = loaded.scripts
    assert [file.path for file in axes.script.files] == sorted([*found, "train.py"])
    assert all(
        file.sha256 == hashlib.sha256((folder / "scripts" / file.path).read_bytes()).hexdigest()
        for file in axes.script.files
    )
    assert load(folder, known, models, yaml.safe_dump(matrix.long_form(loaded), sort_keys=False)) == loaded


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("[none.py]", "'none.py': there is no such file in the folder of the script"),
        ("['*.txt']", "'*.txt': matches no file in the folder of the script"),
        ("[../secret]", "'../secret': should be a path or a pattern below the folder of the script"),
        ("['../*']", "'../*': should be a path or a pattern below the folder of the script"),
        ("[/etc/passwd]", "'/etc/passwd': should be a path or a pattern below the folder of the script"),
        ("[lib]", "'lib': is a folder; write lib/**/* for the files in it"),
        ("[link]", "'link': 'link' leads out of the folder of the script through a link"),
        ("['l*k']", "'l*k': 'link' leads out of the folder of the script through a link"),
        ("[away/secret]", "'away/secret': 'away/secret' leads out of the folder of the script through a link"),
        ("['away/*']", "'away/*': 'away/secret' leads out of the folder of the script through a link"),
        ("[pipe]", "'pipe': 'pipe' is no plain file"),
        ("['back*']", "'back*': 'back\\\\slash' cannot be carried: its name holds a control character or a backslash"),
        ("['a\\0b']", "'a\\x00b': there is no such file in the folder of the script"),
        ("['']", "is empty"),
    ],
)
def test_an_impossible_script_file_is_reported(
    folder: Path, known: catalog.Catalog, models: Models, files: str, said: str
) -> None:
    """A file that a script cannot have is reported at its place with the reason."""
    (folder / "secret").write_text("password")
    (folder / "scripts" / "link").symlink_to(folder / "secret")
    (folder / "scripts" / "away").symlink_to(folder)
    os.mkfifo(folder / "scripts" / "pipe")
    text = with_files(folder, files.replace("'", '"') if "\\0" in files else files, "lib/a.py", "back\\slash")

    with pytest.raises(InputError) as caught:
        load(folder, known, models, text)

    (message,) = caught.value.messages
    assert message == f"{folder}/m.yaml:4:48: scripts.files: {said}"


def test_the_files_of_a_script_are_bounded(
    folder: Path, known: catalog.Catalog, models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = with_files(folder, "['*.txt']", *(f"{number}.txt" for number in range(5)))
    monkeypatch.setattr(limits, "MAX_SCRIPT_FILES", 5)
    with pytest.raises(InputError, match=r":4:47: scripts\.files: more than 5 files belong to the script"):
        load(folder, known, models, text)
    monkeypatch.setattr(limits, "MAX_SCRIPT_FILES", 6)
    monkeypatch.setattr(limits, "MAX_SCRIPT_BYTES", 20)
    with pytest.raises(InputError, match="the files of the script have 41 bytes, more than 0 MiB"):
        load(folder, known, models, text)
