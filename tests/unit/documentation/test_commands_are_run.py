"""Every call of our program that a page shows is run by a test. Other programs are run or replaced."""

import pytest

from bench.documentation import command_tests
from bench.documentation.command_tests import OWN_TESTS, WALK, RunCommand, shown_commands
from bench.documentation.documented_commands import blocks_of
from bench.documentation.program_tests import OTHER_TESTS, STANDING_IN_ELSEWHERE, shown_programs
from orchestrator.resources import ROOT
from tests.walks.pages import WALKS
from tests.walks.place import STANDING_IN

COMMANDS = list(shown_commands())
PROGRAMS = list(shown_programs())


def test_no_command_is_left_out() -> None:
    assert [f"{each.command.page}: {each.command.line}" for each in COMMANDS if not each.test] == []


def test_every_other_program_is_run_or_replaced() -> None:
    left = [each for each in PROGRAMS if not (each.is_real or each.stand_in)]

    assert [f"{each.call.page}: {each.call.line}" for each in left] == []


def test_other_programs_that_are_named_are_on_their_pages() -> None:
    shown = {(each.call.page, each.call.program) for each in PROGRAMS}

    for named in (OTHER_TESTS, STANDING_IN_ELSEWHERE):
        assert named.keys() <= shown
    assert not OTHER_TESTS.keys() & STANDING_IN_ELSEWHERE.keys()
    assert all((ROOT / test).exists() for test in OTHER_TESTS.values())


def test_stand_ins_are_those_of_walked_pages() -> None:
    walked = {each.call.program for each in PROGRAMS if _is_walked(each.call.page, each.call.section)}

    assert STANDING_IN.keys() <= walked
    assert {each.call.program for each in PROGRAMS if each.stand_in} <= STANDING_IN.keys()


def _is_walked(page: str, section: str) -> bool:
    return command_tests.runner_of(page, section) == WALK


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
    others = {each.call.page for each in PROGRAMS if each.test == WALK}

    assert walked | (others & WALKS.keys()) == set(WALKS)


def test_unknown_command_counts_as_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_tests, "WALKS", {})

    left: list[RunCommand] = [each for each in shown_commands() if not each.test]

    assert any(each.command.page == "README.md" for each in left)
