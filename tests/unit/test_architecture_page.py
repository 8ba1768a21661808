"""The page of the architecture names files and functions that exist."""

import ast
import re

import pytest

from orchestrator.resources import ROOT
from tests.documented import DOCS

WAYS = (DOCS / "architecture" / "ways.md").read_text(encoding="utf-8")
STEPS = re.findall(r"`([a-z_/]+\.py)` `(\w+)`", WAYS)


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_a_step_names_a_function_of_a_file(file: str, name: str) -> None:
    path = ROOT / file if file.startswith("benchmarks/") else ROOT / "orchestrator" / file
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))

    assert name in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("way", WAYS.split("\n## ")[1:], ids=lambda way: str(way).splitlines()[0])
def test_a_way_has_ten_steps_at_most(way: str) -> None:
    steps = [line for line in way.splitlines() if re.match(r"\d+\. ", line)]

    assert 0 < len(steps) <= 10
    assert all(re.search(r"`[a-z_/]+\.py` `\w+`", line) for line in steps)
