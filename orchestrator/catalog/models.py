"""What the host knows of a model: the literals at the top of its file, `<name>.py`, which is never executed."""

import ast
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from orchestrator.brought import ModelFile
from orchestrator.errors import InputError

Kind = TypeVar("Kind")
_NAME = re.compile("[a-z][a-z0-9_]*")
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model file; the model itself is known to the container only."""

    name: str
    """File name, and the name in `matrix.yaml`."""
    title: str
    input_shape: tuple[int, ...]
    """Of one sample, channels first."""
    classes: int
    batch_size: int
    """Default of the matrix."""
    samples: int
    """Size of the synthetic dataset, for epochs."""
    optimizer: Mapping[str, Any]
    own: ModelFile | None = None
    """The file, where it is the user's; None for a model that ships with the program."""


class _NoModelError(ValueError):
    """What is wrong with a model file, and on which line."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.lineno = line


def load_models(folder: Path) -> Mapping[str, ModelInfo]:
    """Read every model that ships with the program, by name, in alphabetical order.

    Raises `InputError` with a line for each file that is no model.
    """
    found, mistakes = _read_all(folder)
    if mistakes:
        raise InputError(*mistakes.values())
    if not found:
        raise InputError(f"{folder}: holds no model; it should be the folder benchmarks/models")
    return MappingProxyType({name: info for name, (info, _) in found.items()})


def own_models(
    folder: Path, shipped: Mapping[str, ModelInfo], called: str = ""
) -> tuple[dict[str, ModelInfo], dict[str, str]]:
    """Read every model of a user's folder: those that are right by name, and what is wrong with others by name.

    `called` is the folder as the user wrote it. None of them may have the name of one that is `shipped`.
    """
    shown = called or str(folder)
    found, mistakes = _read_all(folder, shown)
    right: dict[str, ModelInfo] = {}
    for name, (info, text) in found.items():
        if name in shipped:
            mistakes[name] = f"{shown}/{name}.py:1: a model {name!r} is there already; give the file another name"
        else:
            source = ModelFile(name, text, hashlib.sha256(text.encode()).hexdigest())
            right[name] = ModelInfo(**{field: getattr(info, field) for field in _FIELDS}, own=source)
    if not right and not mistakes:
        mistakes[""] = f"{shown}: holds no model; a model is a file NAME.py, as docs/models.md shows"
    return right, mistakes


_FIELDS = ("name", "title", "input_shape", "classes", "batch_size", "samples", "optimizer")


def _read_all(folder: Path, shown: str = "") -> tuple[dict[str, tuple[ModelInfo, str]], dict[str, str]]:
    """Every model of a folder with its text, and the mistake of every file that is none, by name."""
    found: dict[str, tuple[ModelInfo, str]] = {}
    mistakes: dict[str, str] = {}
    for path in sorted(folder.glob("[!_.]*.py")):
        try:
            found[path.stem] = _read(path)
        except (SyntaxError, UnicodeDecodeError, ValueError, OSError, RecursionError, MemoryError) as error:
            place = f"{shown or folder}/{path.name}:{getattr(error, 'lineno', None) or 1}"
            why = getattr(error, "strerror", None) or getattr(error, "msg", None) or error
            mistakes[path.stem] = f"{place}: not a model: {why}"
    return found, mistakes


def _read(path: Path) -> tuple[ModelInfo, str]:
    if not _NAME.fullmatch(path.stem):
        raise _NoModelError(f"its name {path.stem!r} should be lowercase letters, digits and '_'")
    if path.stat().st_size > _MAX_BYTES:
        raise _NoModelError(f"the file is larger than {_MAX_BYTES} bytes")
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    literals = _literals(tree)
    info = ModelInfo(
        name=path.stem,
        title=_literal(literals, "TITLE", str),
        input_shape=_shape(literals),
        classes=_positive(literals, "CLASSES"),
        batch_size=_positive(literals, "BATCH_SIZE"),
        samples=_positive(literals, "SAMPLES"),
        optimizer=MappingProxyType(_optimizer(literals)),
    )
    _check_parity_rate(literals)
    _check_build(tree)
    return info, text


_Literals = Mapping[str, tuple[Any, int]]


def _literals(tree: ast.Module) -> _Literals:
    """Names that the top of a module gives a literal, each with its line; what is no literal is an Ellipsis."""
    found: dict[str, tuple[Any, int]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name) and target.id.isupper()]
            try:
                value = ast.literal_eval(statement.value) if names else ...
            except ValueError:
                value = ...
            found.update(dict.fromkeys(names, (value, statement.lineno)))
    return found


def _literal(literals: _Literals, name: str, kind: type[Kind]) -> Kind:
    value, line = literals.get(name, (..., 1))
    if not isinstance(value, kind):
        raise _NoModelError(f"{name} must be a literal {kind.__name__} at the top of the file", line)
    return value


def _positive(literals: _Literals, name: str) -> int:
    value = _literal(literals, name, int)
    if not _is_positive(value):
        raise _NoModelError(f"{name} must be a whole number from 1", literals[name][1])
    return value


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _shape(literals: _Literals) -> tuple[int, ...]:
    shape = _literal(literals, "INPUT_SHAPE", tuple)
    if not shape or not all(map(_is_positive, shape)):
        raise _NoModelError(
            "INPUT_SHAPE must hold whole numbers from 1, such as (1, 28, 28)", literals["INPUT_SHAPE"][1]
        )
    return shape


def _optimizer(literals: _Literals) -> dict[str, Any]:
    optimizer = _literal(literals, "OPTIMIZER", dict)
    rate = optimizer.get("learning_rate")
    is_number = isinstance(rate, (int, float)) and not isinstance(rate, bool)
    if not isinstance(optimizer.get("name"), str) or not is_number:
        wanted = '{"name": "adam", "learning_rate": 0.001}'
        raise _NoModelError(f"OPTIMIZER must have a name and a learning_rate, as in {wanted}", literals["OPTIMIZER"][1])
    return optimizer


def _check_parity_rate(literals: _Literals) -> None:
    """It is the container that reads it; here a mistake has its line."""
    rate, line = literals.get("PARITY_LEARNING_RATE", (0.01, 1))
    if not isinstance(rate, float) or not 0 < rate < math.inf:
        raise _NoModelError("PARITY_LEARNING_RATE must be a number above 0, such as 0.001", line)


def _check_build(tree: ast.Module) -> None:
    made = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "build"]
    if not made:
        raise _NoModelError("it has no function build(net)")
    if len(made[-1].args.args) != 1:
        raise _NoModelError("build takes one argument, net", made[-1].lineno)
