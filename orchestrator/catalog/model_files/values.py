"""Values and operations that are followed in a model's file: numbers, text, sequences, and what is done with them."""

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
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "range": range, "len": len, "enumerate": lambda *given: tuple(enumerate(*given)),
    "zip": lambda *given: tuple(zip(*given, strict=False)),
    "min": min, "max": max, "int": int, "abs": abs, "sum": sum, "tuple": tuple, "list": list,
    "reversed": lambda given: tuple(reversed(given)), "sorted": sorted,
}  # fmt: skip


class UnfollowedError(Exception):
    """Something in the file that is not followed."""


def applied(sign: ast.operator, one: Any, other: Any) -> Any:
    """Return what a binary operator makes of two values."""
    if isinstance(sign, ast.Pow):
        if not all(isinstance(value, int) and abs(value) <= 64 for value in (one, other)):
            raise UnfollowedError
        return safely(operator.pow, one, other)
    if isinstance(sign, ast.Mult) and any(isinstance(value, tuple | list | str) for value in (one, other)):
        times = [value for value in (one, other) if isinstance(value, int)]
        if not times or times[0] > MAX_ITEMS:
            raise UnfollowedError
    return safely(OPERATORS.get(type(sign)), one, other)


def safely(function: Callable[..., Any] | None, *given: Any) -> Any:
    """Return what a function makes of values; it is not followed where it raises."""
    if function is None:
        raise UnfollowedError
    try:
        return bounded(function(*given))
    except UnfollowedError:
        raise
    except Exception as error:
        raise UnfollowedError from error


def bounded(value: Any) -> Any:
    """Return the value itself, where it is of a kind and size that is followed."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) <= MAX_NUMBER:
        return value
    if isinstance(value, str | tuple | list) and len(value) <= MAX_ITEMS:
        return value
    if isinstance(value, range):
        return value
    raise UnfollowedError
