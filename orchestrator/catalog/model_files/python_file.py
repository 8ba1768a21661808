"""Python files of a model, read as text and as a tree.

The literals at their top are known without running them.
"""

import ast
import io
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from orchestrator.catalog.source import Place
from orchestrator.files import read_named, says_where_it_leads

Literals = Mapping[str, tuple[Any, Place]]
"""Name → value and its place, where an Ellipsis stands for what is no literal."""
TOP = Place()
UNREADABLE = (SyntaxError, UnicodeDecodeError, ValueError, OSError, RecursionError, MemoryError)
"""The errors that `read` and a `WrongFileError` raise."""
_MAX_BYTES = 1024 * 1024


class WrongFileError(ValueError):
    """A mistake in a file, with its place."""

    def __init__(self, message: str, place: Place = TOP) -> None:
        super().__init__(message)
        self.lineno, self.offset = place.line, place.column


def read(path: Path, within: Path | None = None) -> tuple[str, ast.Module]:
    """Return the text of a file and its tree, or raise one of `UNREADABLE`.

    A file that reads as if it lay `within` a folder must lie there.
    """
    if within is not None and not says_where_it_leads(path, within):
        raise WrongFileError("leads out of the folder of the matrix through a link; copy the file there instead")
    content = read_named(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise WrongFileError(f"the file is larger than {_MAX_BYTES} bytes")
    text = io.StringIO(content.decode("utf-8"), newline=None).getvalue()
    return text, ast.parse(text)


def mistake(shown: str, error: BaseException, what: str) -> str:
    """Return a line for an error of `read` or of a check, such as `mine/wide.py:5:13: not a model: …`."""
    reason = getattr(error, "strerror", None) or getattr(error, "msg", None) or error
    line, column = (getattr(error, name, None) or 1 for name in ("lineno", "offset"))
    return f"{shown}:{line}:{column}: not {what}: {reason}"


def place_of(node: ast.expr | ast.stmt) -> Place:
    """Return the place of a node, where a column counts bytes of UTF-8 as in `ast`."""
    return Place(node.lineno, node.col_offset + 1)


def literals(tree: ast.Module) -> Literals:
    """Return the literals of names in capitals at the top of a module."""
    values: dict[str, tuple[Any, Place]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name) and target.id.isupper()]
            try:
                value = ast.literal_eval(statement.value) if names else ...
            except ValueError:
                value = ...
            values.update(dict.fromkeys(names, (value, place_of(statement.value))))
    return values


def require_function(tree: ast.Module, name: str, argument: str, further: Collection[str] = ()) -> None:
    """Raise `WrongFileError` unless the top of a module defines a function of one argument, and the `further` ones."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not functions:
        raise WrongFileError(f"it has no function {name}({argument})")
    taken = [each.arg for each in functions[-1].args.args]
    if further and sorted(taken[1:]) != sorted(further):
        listed = ", ".join((argument, *further))
        raise WrongFileError(f"{name} takes the arguments {listed}", place_of(functions[-1]))
    if not further and len(taken) != 1:
        raise WrongFileError(f"{name} takes one argument, {argument}", place_of(functions[-1]))
