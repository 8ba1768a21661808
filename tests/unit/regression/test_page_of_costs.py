"""The page of costs: every price is what the simulations found, and every command is one of ours."""

import json
import re
from typing import Any

import pytest
import typer

from orchestrator.cli.program import program
from orchestrator.resources import ROOT
from tests.documented import whole

PROGRAM: Any = typer.main.get_command(program())
PAGE = whole("cost.md")
FOUND = json.loads((ROOT / "docs" / "detection.json").read_text(encoding="utf-8"))
BOTH_SIDES = 2


def value(section: str, *what: str) -> float:
    """Return the value of the row that follows the rows of these beginnings, each after the one before."""
    rows = iter(FOUND[section]["rows"])
    for text in what:
        row = next(each for each in rows if each["what"].startswith(text))
    return float(row["value"])


PRICES = {
    "It is, by 10 %.": BOTH_SIDES * value("slowdowns", "a slowdown of 10 %", "… blocks"),
    "… It is, by 5 %.": BOTH_SIDES * value("slowdowns", "a slowdown of 5 %", "… blocks"),
    "by 5 %, and fresh blocks confirm it.": BOTH_SIDES
    * value("watch", "a slowdown of 5 % of any other series", "… blocks"),
    "It is not: `same`.": BOTH_SIDES * value("nights", "… blocks spent on a cell"),
    "slower, by 10 %?": value("bisection", "one change of 10 %", "… launches"),
    "… by 5 %?": value("bisection", "one change of 5 %", "… launches"),
    "by 5 % each?": value("bisection", "two changes of 5 %", "… launches"),
    "There is none.": value("bisection", "no change among", "… launches"),
    "within 2 %? It is.": value("bisection", "no change, every step wanted", "… mean launches"),
    "Neighbours differ by 3 %.": value("rankings", "eight cells, all gaps 3 %", "… launches"),
    "Neighbours differ by 1 to 20 %.": value("rankings", "eight cells, gaps drawn evenly", "… launches"),
    "They are.": value("rankings", "twenty equal cells", "… launches"),
    "How quiet is the rig?": BOTH_SIDES * value("nights", "… blocks spent on a cell"),
}


def rows() -> dict[str, str]:
    """Read the prices that are numbers, by their questions."""
    cells = [re.split(r" *\| *", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("| ")]
    return {row[0]: row[-1] for row in cells if row[-1][0].isdigit()}


@pytest.mark.parametrize("question", PRICES)
def test_price_is_what_was_found(question: str) -> None:
    (price,) = [price for asked, price in rows().items() if asked.endswith(question)]

    assert int(price.split()[0]) == round(PRICES[question])


def test_every_price_is_held() -> None:
    assert len(rows()) == len(PRICES)


def test_a_fixed_number_is_what_was_found() -> None:
    (row,) = [each["what"] for each in FOUND["rankings"]["rows"][:5] if "decides as often" in each["what"]]

    assert re.findall(r"\d+ launches", row) == re.findall(r"\d+ launches", PAGE.partition("decides as often")[2])[:1]


def test_shares_of_searches_are_what_was_found() -> None:
    """The price is a mean: not every search has shown every step by then."""
    wanted = ("bisection", "no change, every step wanted", "… every step shown within 2 % in the end")
    shares = [100 * value(*wanted), 100 * value(*wanted, "… every step shown within 2 % after 440 launches")]

    (said,) = re.findall(r"In the end, (\d+) % of such.*?after 440 launches, (\d+) % have", PAGE, re.DOTALL)

    assert [int(each) for each in said] == [round(each) for each in shares]


def test_every_command_has_its_options() -> None:
    context = PROGRAM.make_context("orchestrator", ["schema"])
    for line in re.findall(r"`orchestrator ([^`]+)`", PAGE):
        _, command, arguments = PROGRAM.resolve_command(context, line.split())
        known = [option for parameter in command.params for option in parameter.opts]

        assert [each for each in arguments if each.startswith("-") and each not in known] == [], line
