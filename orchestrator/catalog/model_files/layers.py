"""The layers of a model, read from the text of its file.

Its `build` is followed statement by statement and never executed. Numbers, tuples, loops, conditions, functions of the
file and calls of the vocabulary are followed. A file that holds anything else has no known layers here, and the
container runs it all the same.
"""

import ast
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from orchestrator.catalog.model_files import vocabulary
from orchestrator.catalog.model_files.python_file import WrongFileError, place_of
from orchestrator.catalog.model_files.values import (
    FUNCTIONS,
    MAX_ITEMS,
    OPERATORS,
    UNARY,
    UnfollowedError,
    applied,
    bounded,
    safely,
)

MAX_STEPS = 100_000
"""Expressions and statements."""
MAX_LAYERS = 2_000
MAX_DEPTH = 40

_NOTHING = object()
"""The result of a block that ends without `return`, and the value of a constant that is not followed."""


def layers(tree: ast.Module, axes: Mapping[str, int] | None = None, loss: str = "") -> tuple[Any, ...] | None:
    """Return the layers that `build` records for these axes, or None if the file holds something that is not followed.

    Raises `WrongFileError` with the place of what the vocabulary lacks or refuses, or of a model whose logits the
    `loss` does not take.
    """
    try:
        reader = _Reader(tree)
        build = reader.functions["build"]
        try:
            recorded = vocabulary.module("layers").recorded(lambda net: reader.call(build, [net], dict(axes or {})))
            if loss:
                vocabulary.module("losses").refuse_outputs(loss, recorded.inputs, recorded.layers[-1].output_shape)
        except WrongFileError:
            raise
        except ValueError as error:
            raise WrongFileError(str(error), place_of(build)) from None
    except (UnfollowedError, RecursionError, KeyError):
        return None
    return tuple(recorded.layers)


class _Reader:
    """A reader that follows the functions of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        self.constants: dict[str, Any] = {}
        self._net = vocabulary.module("layers").Net
        self._value = vocabulary.module("layers").Value
        self._steps = self._depth = 0
        for statement in tree.body:
            self._define(statement)

    def _define(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.FunctionDef):
            if statement.name in {*self.functions, *self.constants}:
                raise UnfollowedError
            self.functions[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if not isinstance(target, ast.Name) or target.id in {*self.functions, *self.constants}:
                    raise UnfollowedError
                self.constants[target.id] = self._constant_value(statement.value)
        elif not isinstance(statement, ast.Import | ast.ImportFrom) and not _is_docstring(statement):
            raise UnfollowedError

    def _constant_value(self, node: ast.expr) -> Any:
        try:
            return self._evaluate(node, {})
        except UnfollowedError:
            return _NOTHING

    def call(self, function: ast.FunctionDef, positional: list[Any], named: dict[str, Any]) -> Any:
        """Return the result of a function of the file for these arguments."""
        takes = function.args
        if function.decorator_list or takes.vararg or takes.kwarg or takes.posonlyargs or self._depth > MAX_DEPTH:
            raise UnfollowedError
        names = [argument.arg for argument in takes.args]
        defaults = dict(zip(names[len(names) - len(takes.defaults) :], takes.defaults, strict=True))
        defaults |= {
            argument.arg: default
            for argument, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
            if default is not None
        }
        bound = {**dict(zip(names, positional, strict=False)), **named}
        scope = {name: self._evaluate(node, {}) for name, node in defaults.items()} | bound
        wanted = {*names, *(argument.arg for argument in takes.kwonlyargs)}
        if len(positional) > len(names) or set(scope) != wanted or len(bound) != len(positional) + len(named):
            raise UnfollowedError
        self._depth += 1
        result = self._run(function.body, scope)
        self._depth -= 1
        return None if result is _NOTHING else result

    def _run(self, body: list[ast.stmt], scope: dict[str, Any]) -> Any:
        for statement in body:
            self._step()
            if isinstance(statement, ast.Return):
                return self._evaluate(statement.value, scope) if statement.value else None
            result = self._statement(statement, scope)
            if result is not _NOTHING:
                return result
        return _NOTHING

    def _statement(self, statement: ast.stmt, scope: dict[str, Any]) -> Any:
        if isinstance(statement, ast.For):
            return self._loop(statement, scope)
        if isinstance(statement, ast.If):
            return self._run(statement.body if self._evaluate(statement.test, scope) else statement.orelse, scope)
        if isinstance(statement, ast.Assign):
            value = self._evaluate(statement.value, scope)
            for target in statement.targets:
                self._bind(target, value, scope)
        elif isinstance(statement, ast.AugAssign):
            self._augment(statement, scope)
        elif isinstance(statement, ast.Expr):
            self._evaluate(statement.value, scope)
        elif not isinstance(statement, ast.Pass):
            raise UnfollowedError
        return _NOTHING

    def _loop(self, statement: ast.For, scope: dict[str, Any]) -> Any:
        if statement.orelse:
            raise UnfollowedError
        for item in self._items(statement.iter, scope):
            self._bind(statement.target, item, scope)
            result = self._run(statement.body, scope)
            if result is not _NOTHING:
                return result
        return _NOTHING

    def _augment(self, statement: ast.AugAssign, scope: dict[str, Any]) -> None:
        if not isinstance(statement.target, ast.Name):
            raise UnfollowedError
        before = self._evaluate(ast.Name(statement.target.id, ast.Load()), scope)
        if isinstance(before, list):  # other names may refer to the same list
            raise UnfollowedError
        scope[statement.target.id] = applied(statement.op, before, self._evaluate(statement.value, scope))

    def _bind(self, target: ast.expr, value: Any, scope: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = list(value) if isinstance(value, tuple | list) and not isinstance(value, self._value) else []
            if len(items) != len(target.elts) or any(isinstance(each, ast.Starred) for each in target.elts):
                raise UnfollowedError
            for each, item in zip(target.elts, items, strict=True):
                self._bind(each, item, scope)
        else:
            raise UnfollowedError

    def _evaluate(self, node: ast.expr, scope: dict[str, Any]) -> Any:
        self._step()
        evaluate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if evaluate is None:
            raise UnfollowedError
        return evaluate(node, scope)

    def _constant(self, node: ast.Constant, _scope: dict[str, Any]) -> Any:
        return bounded(node.value)

    def _name(self, node: ast.Name, scope: dict[str, Any]) -> Any:
        value = scope.get(node.id, self.constants.get(node.id, _NOTHING))
        if value is _NOTHING:
            raise UnfollowedError
        return value

    def _tuple(self, node: ast.Tuple, scope: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self._listed(node.elts, scope))

    def _list(self, node: ast.List, scope: dict[str, Any]) -> list[Any]:
        return self._listed(node.elts, scope)

    def _listed(self, nodes: Iterable[ast.expr], scope: dict[str, Any]) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self._items(node.value, scope))
            else:
                values.append(self._evaluate(node, scope))
        return values

    def _binop(self, node: ast.BinOp, scope: dict[str, Any]) -> Any:
        return applied(node.op, self._evaluate(node.left, scope), self._evaluate(node.right, scope))

    def _unaryop(self, node: ast.UnaryOp, scope: dict[str, Any]) -> Any:
        return safely(UNARY.get(type(node.op)), self._evaluate(node.operand, scope))

    def _compare(self, node: ast.Compare, scope: dict[str, Any]) -> bool:
        left = self._evaluate(node.left, scope)
        for sign, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._evaluate(right_node, scope)
            if not safely(OPERATORS.get(type(sign)), left, right):
                return False
            left = right
        return True

    def _boolop(self, node: ast.BoolOp, scope: dict[str, Any]) -> Any:
        value: Any = None
        for each in node.values:
            value = self._evaluate(each, scope)
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _ifexp(self, node: ast.IfExp, scope: dict[str, Any]) -> Any:
        return self._evaluate(node.body if self._evaluate(node.test, scope) else node.orelse, scope)

    def _subscript(self, node: ast.Subscript, scope: dict[str, Any]) -> Any:
        value = self._evaluate(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            place: Any = slice(*(self._evaluate(end, scope) if end else None for end in ends))
        else:
            place = self._evaluate(node.slice, scope)
        return safely(operator.getitem, value, place)

    def _attribute(self, node: ast.Attribute, scope: dict[str, Any]) -> Any:
        value = self._evaluate(node.value, scope)
        if isinstance(value, self._value) and node.attr == "shape":
            return value.shape
        if isinstance(value, self._net) and node.attr == "input_shape":
            return value.input_shape
        raise UnfollowedError

    def _call(self, node: ast.Call, scope: dict[str, Any]) -> Any:
        named = {word.arg: self._evaluate(word.value, scope) for word in node.keywords if word.arg is not None}
        if len(named) != len(node.keywords):
            raise UnfollowedError
        if isinstance(node.func, ast.Attribute):
            net = self._evaluate(node.func.value, scope)
            if not isinstance(net, self._net):
                raise UnfollowedError
            return self._layer(net, node, self._listed(node.args, scope), named)
        positional = self._listed(node.args, scope)
        if not isinstance(node.func, ast.Name) or node.func.id in scope or node.func.id in self.constants:
            raise UnfollowedError
        name = node.func.id
        if name in self.functions:
            return self.call(self.functions[name], positional, named)
        if any(isinstance(value, range) and len(value) > MAX_ITEMS for value in positional) or named:
            raise UnfollowedError
        return safely(FUNCTIONS.get(name), *positional)

    def _layer(self, net: Any, node: ast.Call, positional: list[Any], named: dict[str, Any]) -> Any:
        """Record a layer, as the container will."""
        kind = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        known = [name for name in dir(self._net) if not name.startswith("_")]
        if kind not in known:
            raise WrongFileError(f"net has no {kind!r}; there is {', '.join(sorted(known))}", place_of(node))
        if len(net.layers) >= MAX_LAYERS:
            raise UnfollowedError
        try:
            return getattr(net, kind)(*positional, **named)
        except ValueError as error:
            raise WrongFileError(str(error), place_of(node)) from None
        except TypeError as error:
            raise WrongFileError(re.sub(r"^\w+\.", "", str(error)), place_of(node)) from None
        except Exception as error:
            raise UnfollowedError from error

    def _items(self, node: ast.expr, scope: dict[str, Any]) -> Iterator[Any]:
        value = self._evaluate(node, scope)
        if not isinstance(value, tuple | list | range) or isinstance(value, self._value) or len(value) > MAX_ITEMS:
            raise UnfollowedError
        return islice(value, MAX_ITEMS)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise UnfollowedError


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
