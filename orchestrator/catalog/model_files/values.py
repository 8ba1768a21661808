"""The values and operations that are followed in a model's file, such as numbers, text and sequences."""

import ast
import operator
from collections.abc import Callable
from typing import Any

MAX_ITEMS = 10_000
MAX_NUMBER = 2**64

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "range": range, "len": len, "enumerate": lambda *arguments: tuple(enumerate(*arguments)),
    "zip": lambda *sequences: tuple(zip(*sequences, strict=False)),
    "min": min, "max": max, "int": int, "abs": abs, "sum": sum, "tuple": tuple, "list": list,
    "reversed": lambda sequence: tuple(reversed(sequence)), "sorted": sorted,
}  # fmt: skip


class UnfollowedError(Exception):
    """Something in the file that is not followed."""


def applied(sign: ast.operator, left: Any, right: Any) -> Any:
    """Return the result of a binary operator on two values."""
    if isinstance(sign, ast.Pow):
        if not all(isinstance(value, int) and abs(value) <= 64 for value in (left, right)):
            raise UnfollowedError
        return safely(operator.pow, left, right)
    if isinstance(sign, ast.Mult) and any(isinstance(value, tuple | list | str) for value in (left, right)):
        times = [value for value in (left, right) if isinstance(value, int)]
        if not times or times[0] > MAX_ITEMS:
            raise UnfollowedError
    return safely(OPERATORS.get(type(sign)), left, right)


def safely(function: Callable[..., Any] | None, *arguments: Any) -> Any:
    """Return the result of a function on values, or raise `UnfollowedError` if it raises."""
    if function is None:
        raise UnfollowedError
    try:
        return bounded(function(*arguments))
    except UnfollowedError:
        raise
    except Exception as error:
        raise UnfollowedError from error


def bounded(value: Any) -> Any:
    """Return the value unchanged, or raise `UnfollowedError` for a kind or size that is not followed."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) <= MAX_NUMBER:
        return value
    if isinstance(value, str | tuple | list) and len(value) <= MAX_ITEMS:
        return value
    if isinstance(value, range):
        return value
    raise UnfollowedError
