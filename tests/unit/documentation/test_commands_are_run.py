"""Every command that a page shows is run by a test, but for those that are named with a reason."""

import pytest

from bench.documentation import command_tests
from bench.documentation.command_tests import NOT_RUN, OWN_TESTS, WALK, RunCommand, shown_commands
from bench.documentation.documented_commands import blocks_of
from orchestrator.resources import ROOT
from tests.walks.pages import WALKS

COMMANDS = list(shown_commands())
MOST_NOT_RUN = 1
"""A page with a further command that cannot be run needs a reader who agrees."""


def test_no_command_is_left_out() -> None:
    assert [f"{each.command.page}: {each.command.line}" for each in COMMANDS if not each.test and not each.reason] == []


def test_few_commands_are_not_run() -> None:
    named = {(each.command.page, " ".join(each.command.arguments)) for each in COMMANDS if each.reason}

    assert len(NOT_RUN) <= MOST_NOT_RUN
    assert named == set(NOT_RUN), "a command that is named is still on its page"
    assert all(NOT_RUN.values())


@pytest.mark.parametrize("page", OWN_TESTS)
def test_own_tests_read_their_sections(page: str) -> None:
    """The test that is named is there, and names the section that it runs, or reads the whole page."""
    sections = {block.section for block in blocks_of(ROOT / page)}
    for section, test in OWN_TESTS[page].items():
        folder = (ROOT / test).parent
        text = (ROOT / test).read_text("utf-8") + "".join(
            path.read_text("utf-8") for path in folder.glob("page_sections.py")
        )
        assert section == "*" or section in sections, "the page has no commands there"
        assert page.removeprefix("docs/") in text if section in {"", "*"} else f'"{section}"' in text


def test_walks_are_of_pages_with_commands() -> None:
    walked = {each.command.page for each in COMMANDS if each.test == WALK}

    assert walked == set(WALKS)


def test_unknown_command_counts_as_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_tests, "WALKS", {})

    left: list[RunCommand] = [each for each in shown_commands() if not each.test and not each.reason]

    assert any(each.command.page == "README.md" for each in left)
