"""`compare` with files of other tools, from the command line to the exit status."""

import json
from pathlib import Path

import pytest

from orchestrator.reporting.formats import FORMATS, HTML, formats_of
from orchestrator.reporting.reports.regression.report import REGRESSION
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.foreign.real_files import TOOLS, document, real, written


@pytest.mark.parametrize("tool", TOOLS)
def test_the_exit_status_is_the_verdict(command: Program, tool: str) -> None:
    before, again, slower = (str(real(tool, name)) for name in ("before", "again", "slower"))

    assert command("compare", before, again)[0] == 0
    code, out, error = command("compare", before, slower)
    assert (code, error) == (1, "")
    assert "slower" in out
    assert "One run each" in out


@pytest.mark.parametrize("name", [each.name for each in FORMATS if each.name in formats_of(REGRESSION)])
def test_files_are_shown_in_every_format(command: Program, name: str, tmp_path: Path) -> None:
    before, slower = (str(real(TOOLS[0], each)) for each in ("before", "slower"))
    code, _, error = command("compare", before, slower, "--format", name, "-o", "out")

    assert (code, error) == (1, "page: out/index.html\n" if name == HTML else "")
    written_file = tmp_path / "out"
    if name == "bigger-is-better":  # a time is better low
        assert written_file.read_text() == "[]\n"
        return
    assert "Wait" in (written_file / "index.html" if name == HTML else written_file).read_text()


def test_names_select_benchmarks(command: Program, tmp_path: Path) -> None:
    (result,) = document(TOOLS[1])["results"]
    path = written(tmp_path / "both.json", {"results": [result | {"command": name} for name in ("one", "two")]})
    code, out, _ = command("compare", str(path), str(path), "--select", "one", "--json")

    assert code == 0
    data = json.loads(out)["data"]
    assert [pair["id"] for pair in data["pairs"]] == ["one"]
    assert data["family"] == 2


def test_a_colon_names_a_benchmark(command: Program, tmp_path: Path) -> None:
    """A colon in the name of a command is part of it."""
    (result,) = document(TOOLS[1])["results"]
    names = ("a:b", "a:c")
    path = written(tmp_path / "both.json", {"results": [result | {"command": name} for name in names]})
    code, out, _ = command("compare", f"{path}:a:b", f"{path}:a:c", "--json")

    assert code == 0
    assert [pair["id"] for pair in json.loads(out)["data"]["pairs"]] == ["a:b → a:c"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("{before}",), "give B too, the file that it is compared with"),
        (("{before}", "gone.json"), "gone.json: there is no such file"),
        (("{before}", "latest"), "latest: there is no such file; files are compared with files"),
        (("{before},{before}", "{before}"), "is given twice; a file counts once"),
        (("{before}", "{before}", "--metric", "tme"), "did you mean 'time'?"),
        (("{before}", "{before}", "--select", "nothing"), "nothing"),
    ],
)
def test_a_mistake_is_an_error_of_input(
    command: Program, arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    stored_run(tmp_path / "results")
    before = str(real(TOOLS[0], "before"))
    code, out, error = command("compare", *(each.format(before=before) for each in arguments))

    assert (code, out) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1
