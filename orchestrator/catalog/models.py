"""What the host knows of a model: the literals at the top of `benchmarks/models/<name>.py`, never executed."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from orchestrator.errors import InputError

Kind = TypeVar("Kind")


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


def load_models(folder: Path) -> Mapping[str, ModelInfo]:
    """Read every model of a folder by name, in alphabetical order.

    Raises `InputError` with a line for each file that is no model.
    """
    found: dict[str, ModelInfo] = {}
    mistakes: list[str] = []
    for path in sorted(folder.glob("[!_]*.py")):
        try:
            found[path.stem] = _read(path)
        except (SyntaxError, UnicodeDecodeError, ValueError, OSError) as error:
            place = f"{path}:{getattr(error, 'lineno', None) or 1}"
            mistakes.append(f"{place}: not a model: {getattr(error, 'msg', None) or error}")
    if mistakes:
        raise InputError(*mistakes)
    if not found:
        raise InputError(f"{folder}: holds no model; it should be the folder benchmarks/models")
    return MappingProxyType(found)


def _read(path: Path) -> ModelInfo:
    literals = _literals(ast.parse(path.read_text(encoding="utf-8")))
    return ModelInfo(
        name=path.stem,
        title=_literal(literals, "TITLE", str),
        input_shape=_literal(literals, "INPUT_SHAPE", tuple),
        classes=_positive(literals, "CLASSES"),
        batch_size=_positive(literals, "BATCH_SIZE"),
        samples=_positive(literals, "SAMPLES"),
        optimizer=MappingProxyType(_literal(literals, "OPTIMIZER", dict)),
    )


def _literals(tree: ast.Module) -> dict[str, Any]:
    """Names that the top of a module gives a literal."""
    found: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name) and target.id.isupper()]
            if names:
                try:
                    value = ast.literal_eval(statement.value)
                except ValueError:
                    continue
                found.update(dict.fromkeys(names, value))
    return found


def _literal(literals: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
    if not isinstance(literals.get(name), kind):
        raise ValueError(f"{name} must be a literal {kind.__name__} at the top of the file")
    value: Kind = literals[name]
    return value


def _positive(literals: Mapping[str, Any], name: str) -> int:
    value = _literal(literals, name, int)
    if isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1")
    return value
