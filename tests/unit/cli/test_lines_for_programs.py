"""Lines of JSON on stderr for programs, whatever goes wrong."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from orchestrator.reporting.live.lines import event_schema
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run

WRONG = "version: 1\nframeworks: [nop==1]\nmodels: [lenett]\n"
RIGHT = "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\nrepeats: 1\n"


def lines(error: str) -> list[dict[str, Any]]:
    """The lines, each of which the published schema must allow."""
    events: list[dict[str, Any]] = [json.loads(line) for line in error.splitlines()]
    validator = jsonschema.Draft202012Validator(event_schema())
    assert [event for event in events if list(validator.iter_errors(event))] == []
    return events


@pytest.fixture(autouse=True)
def matrix(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG)
    (tmp_path / "right.yaml").write_text(RIGHT)


def test_every_mistake_is_a_line(command: Program) -> None:
    plain = command("plan", "-f", "wrong.yaml")
    code, out, error = command("plan", "-f", "wrong.yaml", "--json")

    assert (code, out) == (2, "")
    assert [(line["event"], line["message"]) for line in lines(error)] == [
        ("error", message) for message in plain[2].splitlines()
    ]
    assert len(lines(error)) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--json", "--nonsense"), "No such option: --nonsense"),
        (("plan", "--limit", "x", "--json"), "Invalid value for '--limit': 'x' is no whole number"),
        (("run", "--runtime", "dokcer", "--json"), "did you mean 'docker'?"),
        (("merge", "--json"), "Missing argument 'FILE'"),
        (("paln", "--json"), "No such command 'paln'"),
        (("--nonsense", "plan", "--json"), "No such option: --nonsense"),
        (("nightly", "accept", "--json"), "Missing argument 'RELEASE'"),
        (("report", "--format", "json", "--nonsense"), "No such option: --nonsense"),
        (("report", "--format=json", "--all", "--nonsense"), "No such option: --nonsense"),
        (("runs", "--json"), "results: no such folder"),
    ],
)
def test_a_mistake_in_options_is_a_line(command: Program, arguments: tuple[str, ...], said: str) -> None:
    code, out, error = command(*arguments)

    assert (code, out) == (2, "")
    (line,) = lines(error)
    assert line["event"] == "error"
    assert said in line["message"]


def test_without_it_the_usage_is_shown(command: Program) -> None:
    assert command("plan", "--nonsense")[2].startswith("Usage: ")
    assert command("plan", "--", "--json")[2].startswith("Usage: ")


def test_a_fault_of_the_host_is_a_line(command: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    code, out, error = command("build", "-f", "right.yaml", "--json")

    assert (code, out) == (3, "")
    assert "no container engine answers" in lines(error)[-1]["message"]


def test_an_unwritable_answer_is_a_line(command: Program, tmp_path: Path) -> None:
    """An answer that cannot be written is an error of one line."""
    stored_run(tmp_path / "results")
    (tmp_path / "out.json").mkdir()
    code, _, error = command("report", "--json", "-o", "out.json")

    assert (code, [line["event"] for line in lines(error)]) == (2, ["error"])


def test_notices_before_the_work_are_lines(command: Program, tmp_path: Path) -> None:
    stored_run(tmp_path / "results")
    code, _, error = command("history", "--json", "--select", "*")

    assert code == 0
    (line,) = lines(error)
    assert line["event"] == "notice"
    assert "no series of 2 runs or more here" in line["message"]


def test_a_whole_run_writes_lines_alone(command: Program) -> None:
    code, out, error = command("run", "-f", "right.yaml", "--runtime", "host", "--idle-wait", "0", "--json")

    assert code == 0
    assert json.loads(out)["schema"] == "report/1"
    assert {"run_started", "repeat_finished"} <= {line["event"] for line in lines(error)}


def test_quiet_leaves_errors_alone(command: Program) -> None:
    assert len(lines(command("-q", "plan", "-f", "wrong.yaml", "--json")[2])) == 2
