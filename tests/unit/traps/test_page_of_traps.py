"""The page of traps: it has all of them, and the tests that it names exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.documented import whole

PAGE = whole("traps.md")
ROWS = {
    "SK Telecom 2018": 10,
    "ANU 2019": 7,
    "Smartia 2019": 6,
    "Keras backends 2017": 5,
    "TU Berlin 2020": 6,
    "Another runner": 1,
}
TRAPS = Path(__file__).parent


def rows(study: str) -> list[list[str]]:
    """Read the table under a heading, without its head."""
    section = PAGE.partition(f"## {study}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    assert lines[0] == ["trap", "here", "shown by"]
    return lines[1:]


ALL = [row for study in ROWS for row in rows(study)]
NAMED = sorted({name for row in ALL for name in re.findall(r"`([^`]*)`", row[-1])})


@cache
def names_in(file: str) -> frozenset[str]:
    """Collect the names of the tests of a file without running it."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_study_has_all_its_traps() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE) == list(ROWS)
    assert {study: len(rows(study)) for study in ROWS} == ROWS
    assert sum(ROWS.values()) == 35


@pytest.mark.parametrize("row", ALL, ids=lambda row: str(row[0])[:40])
def test_every_trap_has_its_answer_and_a_test(row: list[str]) -> None:
    assert len(row) == 3
    assert re.match(r"`impossible`, because |`caught`, by ", row[1])
    assert "`open`" not in row[1]
    assert "::" in row[2]


@pytest.mark.parametrize("name", NAMED)
def test_every_named_test_exists(name: str) -> None:
    file, _, test = name.partition("::")

    assert test.startswith("test_")
    assert (ROOT / file).is_file(), f"docs/traps.md: there is no {file}"
    assert test in names_in(file), f"docs/traps.md: {file} has no {test}"


def test_every_trap_that_is_made_again_is_named() -> None:
    made = {f"tests/unit/traps/{path.name}" for path in TRAPS.glob("test_*.py")} - {
        f"tests/unit/traps/{Path(__file__).name}"
    }

    assert made == {name.partition("::")[0] for name in NAMED if name.startswith("tests/unit/traps/")}
