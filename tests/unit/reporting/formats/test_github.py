"""Annotations and comments for GitHub, within what it shows."""

import re
from dataclasses import replace

import pytest

from orchestrator.regression.model import JudgedPair
from orchestrator.reporting.blocks import Heading, Paragraph, table
from orchestrator.reporting.document import Case, CaseResult, Suite, Suites
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.interchange import github, github_comment
from orchestrator.reporting.reports.regression.report import REGRESSION
from tests.unit.reporting.formats.reports_with_texts import EVIL
from tests.unit.reporting.reports.test_regression_report import EVERY

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def rendered(*cases: Case) -> list[str]:
    return next(github.texts(Suites("all", (Suite("some", cases),)))).splitlines()


def failed(name: str, message: str = "too slow", result: CaseResult | None = CaseResult.FAILURE) -> Case:
    return Case(name, "cell", result=result, message=message, word="slower")


def commands(lines: list[str]) -> list[tuple[str, str, str]]:
    return [(match[1], match[2], match[3]) for line in lines if (match := COMMAND.fullmatch(line))]


def test_each_failure_is_an_annotation() -> None:
    lines = rendered(failed("one"), failed("two", result=CaseResult.SKIPPED), failed("three", result=None))

    assert commands(lines) == [
        ("error", "cell%2C one", "slower: too slow"),
        ("notice", "all", "1 passed, 1 failed, 1 skipped"),
        ("notice", "cell%2C two", "slower: too slow"),
    ]
    assert lines[-1] == "some: 1 passed, 1 failed, 1 skipped"


@pytest.mark.parametrize("count", [9, 10, 11, 50])
def test_no_more_annotations_than_are_shown(count: int) -> None:
    """GitHub drops the eleventh of a level; the last one says so, and the log has the rest."""
    for result in (CaseResult.FAILURE, CaseResult.SKIPPED):
        lines = rendered(*(failed(str(number), result=result) for number in range(count)))
        given = commands(lines)

        for level in ("error", "notice"):
            assert sum(each == level for each, _, _ in given) <= 10
        for number in range(count):
            assert any(f"cell%2C {number}" in line or f"cell, {number}:" in line for line in lines)


def test_no_text_makes_a_command() -> None:
    """A name from anywhere cannot begin a line, and so is no command."""
    lines = rendered(failed("a\n::error::b", f"{EVIL}\r\n::set-env name=X::y 100%"))

    assert len(commands(lines)) == 2
    assert len([line for line in lines if line.startswith("::")]) == 2
    assert "100%25" in lines[0]


def test_a_regression_is_an_error() -> None:
    text = render(REGRESSION, EVERY, "github")

    for pair in EVERY.regressions:
        assert any(line.startswith("::error") and pair.id in line for line in text.splitlines())


def test_a_comment_begins_with_its_mark() -> None:
    """The mark finds the comment that a later one replaces; after it comes the answer."""
    text = render(REGRESSION, EVERY, "github-comment")

    assert text.startswith(f"{github_comment.MARK}\n# ")
    assert "is worse than" in text.partition("\n| ")[0]


def test_long_tables_are_folded() -> None:
    short, long = (table(("a",), [(str(row),) for row in range(count)]) for count in (3, 40))
    (text,) = github_comment.texts([Heading("Answer", 1), short, Heading("Details"), long, Heading("End")])

    shown, _, folded = text.partition("<details><summary>Details</summary>")
    assert "| 2 |" in shown
    assert "Details" not in shown
    assert "| 39 |" in folded
    assert folded.rstrip().endswith("## End")


def test_a_comment_is_never_too_long() -> None:
    blocks = [Paragraph(f"{number} " + "word " * 200) for number in range(200)]
    (text,) = github_comment.texts(blocks)

    assert 60_000 < len(text) <= 65_536
    assert text.rstrip().endswith("`--format md` has it.*")
    pairs = tuple(replace_id(number) for number in range(2000))
    assert len(render(REGRESSION, EVERY.model_copy(update={"pairs": pairs}), "github-comment")) <= 65_536


def replace_id(number: int) -> JudgedPair:
    return EVERY.pairs[0].model_copy(update={"id": f"cell {number}"})


def test_an_annotation_names_its_profile() -> None:
    suites = Suites("matrix (smoke run)", ())

    assert next(github.texts(replace(suites))).startswith("::notice title=matrix (smoke run)::")
