"""Docstrings begin with a verb or a noun, and not with a question."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.resources import ROOT

QUESTIONS = ("How ", "What ", "When ", "Where ", "Whether ", "Which ", "Who ", "Why ")


def questions_of(path: Path) -> Iterator[str]:
    """Yield each docstring of a file that begins with a question, with its place."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        is_docstring = isinstance(node, ast.Expr) or (
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".__doc__")
        )
        if is_docstring and isinstance(node.value, ast.Constant) and str(node.value.value).startswith(QUESTIONS):
            yield f"{path}:{node.lineno}: {str(node.value.value).partition(chr(10))[0]}"


@pytest.mark.parametrize("folder", ["orchestrator", "benchmarks", "bench", "tests"])
def test_docstrings_begin_with_no_question(folder: str) -> None:
    paths = [path for path in (ROOT / folder).rglob("*.py") if "public_scripts" not in path.parts]

    assert len(paths) > 20
    assert [line for path in paths for line in questions_of(path)] == []
