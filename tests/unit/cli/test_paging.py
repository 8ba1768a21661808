"""Long output on a terminal goes through a pager; what is piped, short or not wanted so does not."""

from pathlib import Path

import pytest

from orchestrator.cli.output.paging import PAGED, pager_of
from orchestrator.cli.program import COMMANDS
from tests.unit.cli.terminals import on_terminal

PAGER = "#!/bin/sh\nprintf 'PAGED %s\\n' \"$LESS\"; cat; printf 'END\\n'\n"
LONG = ("frameworks",)


@pytest.fixture
def pager(tmp_path: Path) -> str:
    path = tmp_path / "my pager"
    path.write_text(PAGER)
    path.chmod(0o755)
    return f"'{path}' -x"


def test_long_output_is_paged(tmp_path: Path, pager: str) -> None:
    code, text = on_terminal(tmp_path, LONG, PAGER=pager)

    assert code == 0
    assert text.startswith("PAGED FRX\n")
    assert text.endswith("END\n")
    assert "theano" in text
    assert "\x1b[1m" in text  # colors and styles are those of a terminal


def test_short_output_is_not_paged(tmp_path: Path, pager: str) -> None:
    code, text = on_terminal(tmp_path, LONG, lines=500, columns=400, PAGER=pager)

    assert (code, "PAGED" in text, "theano" in text) == (0, False, True)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (("--no-pager", *LONG), {}), ((*LONG, "--no-pager"), {}), (LONG, {"NO_PAGER": "1"}), (LONG, {"TERM": "dumb"}),
        (LONG, {"PAGER": ""}), (LONG, {"PAGER": "/nowhere/pager"}), ((*LONG, "--json"), {}),
    ],
)  # fmt: skip
def test_nobody_is_forced_to_page(
    arguments: tuple[str, ...], variables: dict[str, str], tmp_path: Path, pager: str
) -> None:
    """The output is whole in every case."""
    code, text = on_terminal(tmp_path, arguments, **{"PAGER": pager} | variables)

    assert (code, "PAGED" in text, "theano" in text) == (0, False, True)


def test_a_pipe_is_never_paged(tmp_path: Path, pager: str) -> None:
    code, text = on_terminal(tmp_path, LONG, is_piped=True, PAGER=pager)

    assert (code, "PAGED" in text, "\x1b" in text) == (0, False, False)
    assert "theano" in text


def test_a_pager_that_is_left_is_no_failure(tmp_path: Path) -> None:
    assert on_terminal(tmp_path, ("schema", "matrix"), PAGER="true") == (0, "")


def test_the_status_stays_that_of_the_command(tmp_path: Path, pager: str) -> None:
    """An error is said, whatever is held back."""
    code, text = on_terminal(tmp_path, ("report",), PAGER=pager)

    assert code == 2
    assert "no runs here" in text


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"PAGER": "less -S"}, ["less", "-S"]), ({"PAGER": "a 'b c'"}, ["a", "b c"]), ({"PAGER": "a '"}, []),
        ({"PAGER": "less", "NO_PAGER": "1"}, []), ({"PAGER": "less", "NO_PAGER": ""}, ["less"]),
    ],
)  # fmt: skip
def test_pager_is_a_command_line(environment: dict[str, str], command: list[str]) -> None:
    assert pager_of(environment) == command


def test_paged_commands_exist() -> None:
    """Those that print as they go are not among them."""
    assert set(COMMANDS) >= PAGED
    assert not {"run", "build", "regress", "nightly", "bisect", "init"} & PAGED
