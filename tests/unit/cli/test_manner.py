"""The options of every command: --quiet, --verbose and --color."""

import re
from pathlib import Path

import pytest

from orchestrator.cli.output import views
from orchestrator.cli.output.manner import Loudness
from orchestrator.cli.program import COMMANDS
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting.live.test_lines import EVENTS

MATRIX = """\
version: 1
name: harness
systems: {cpu: {cpus: 1}, gpu: {gpus: 64}}
frameworks: [noop==1]
models: [lenet]
repeats: 1
"""
RUN = ("run", "--runtime", "host")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 ")


@pytest.fixture(autouse=True)
def matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", [*COMMANDS, "nightly accept", "nightly ack", "nightly status"])
def test_every_command_offers_the_options(name: str, command: Program) -> None:
    code, out, _ = command(*name.split(), "-h")

    assert code == 0
    assert [option for option in ("-q, --quiet", "-v, --verbose", "--color <") if option not in out] == []


@pytest.mark.parametrize("line", [("-q", *RUN), (*RUN, "-q"), (*RUN, "--quiet", "--json"), ("--quiet", "plan")])
def test_quiet_leaves_stderr_empty(line: tuple[str, ...], command: Program) -> None:
    code, out, error = command(*line)

    assert (code, error) == (0, "")
    assert "noop-1-cpu/lenet-train-b200" in out or "noop 1" in out


def test_without_it_progress_is_told(command: Program) -> None:
    assert "2 repeats to measure" in command(*RUN)[2]


def test_quiet_tells_errors(command: Program) -> None:
    assert command("-q", "report")[::2] == (2, command("report")[2])
    assert "no runs here" in command("-q", "report")[2]


def test_quiet_tells_which_image_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """No answer of `build` names it."""
    with views.follow(Loudness.QUIET) as view:
        for event in EVENTS:
            view(event)

    assert capsys.readouterr().err == "build failed: bench/mxnet:1.9.1-cpu: no such package\n"


@pytest.mark.parametrize("line", [("-v", *RUN), (*RUN, "--verbose")])
def test_verbose_tells_every_event_with_its_time(line: tuple[str, ...], command: Program) -> None:
    code, _, error = command(*line)

    assert code == 0
    assert [told for told in error.splitlines() if not TIME.match(told)] == []
    for event in ("2 repeats to measure", "[1/2] noop-1-cpu/lenet-train-b200 repeat 0", "repeat 0: ok, ", "no_device"):
        assert event in error


def test_verbose_changes_no_lines_for_programs(command: Program) -> None:
    _, _, error = command("-v", *RUN, "--json")

    assert all(line.startswith('{"event": ') for line in error.splitlines())


@pytest.mark.parametrize("line", [("-q", "-v", "runs"), ("-q", "runs", "-v"), ("runs", "-v", "-q")])
def test_quiet_and_verbose_contradict_each_other(line: tuple[str, ...], command: Program) -> None:
    code, out, error = command(*line)

    assert (code, out) == (2, "")
    assert "contradict each other" in error


@pytest.mark.parametrize("name", ["runs", "show", "report", "models", "frameworks", "doctor", "plan"])
def test_colors_are_used_as_wanted(name: str, command: Program, tmp_path: Path) -> None:
    stored_run(tmp_path / "results")

    plain, never = command(name)[1], command(name, "--color", "never")[1]
    always, before = command(name, "--color", "always")[1], command("--color", "always", name)[1]

    assert "\x1b" not in plain + never
    assert "\x1b[" in always
    assert "\x1b[" in before
    if name != "doctor":  # which looks at the load of this host
        assert re.sub(r"\x1b\[[0-9;]*m", "", always) == plain == never


@pytest.mark.parametrize(("color", "is_colored"), [("auto", True), ("never", False), ("always", True)])
def test_a_forced_color_counts_under_auto(
    color: str, is_colored: bool, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    assert ("\x1b[" in command("models", "--color", color)[1]) is is_colored


@pytest.mark.parametrize(("color", "is_red"), [("auto", False), ("always", True)])
def test_no_color_counts_under_auto(
    color: str, is_red: bool, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", command("doctor", "--color", color)[1])) is is_red


def test_the_choice_ends_with_the_command(command: Program) -> None:
    command("-q", "--color", "always", "plan")

    assert "\x1b" not in command("plan")[1]
    assert "2 repeats to measure" in command(*RUN)[2]
