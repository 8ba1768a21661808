"""The host's knowledge of a model, from the literals at the top of its file.

The file `<name>.py` is never executed.
"""

import ast
import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from orchestrator.catalog.model_files import durations, python_file, vocabulary
from orchestrator.catalog.model_files import layers as model_layers
from orchestrator.catalog.model_files.definitions import definitions
from orchestrator.catalog.model_files.python_file import Literals, WrongFileError
from orchestrator.catalog.model_files.sizes import Sizes, sizes
from orchestrator.errors import InputError
from orchestrator.modes.parts.lengths import Generation
from orchestrator.modes.parts.settings import Shortening
from orchestrator.user_files import ModelDefinition, ModelFile, Network

Kind = TypeVar("Kind")
_NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model file, whose model only the container builds."""

    name: str
    """The name of the file, and the name in `matrix.yaml`."""
    title: str
    input_shape: tuple[int, ...]
    """The shape of one sample, channels first."""
    classes: int
    batch_size: int
    """The default of the matrix."""
    samples: int
    """The size of the synthetic dataset, for epochs."""
    optimizer: Mapping[str, Any]
    own: ModelFile | None = None
    """The file of a user's model; None for a model that ships with the program."""
    network: Network | None = None
    """The exported network that it stands for; None for a model that the vocabulary builds."""
    definitions: tuple[ModelDefinition, ...] = ()
    """Definitions that some frameworks run in place of what their builder makes of the model."""
    shortening: Shortening = field(default_factory=Shortening)
    """The file's shorter measurement, for one that would be too long; a matrix goes before it."""
    quick: Mapping[str, int] = field(default_factory=dict)
    """Batch size and repeats of a smoke run."""
    sizes: Sizes = field(default_factory=dict)
    """Axes of each size, the default first. Most models have none. Shape and counts are those of the default."""
    tree: ast.Module | None = field(default=None, repr=False, compare=False)
    """The file; None of an exported network."""

    @property
    def parameters(self) -> int | None:
        """Return the number of parameters, or None if the host cannot follow the file's `build`."""
        return self._counts[0]

    @property
    def multiply_adds(self) -> int | None:
        """Return the multiply-adds of one sample's forward pass, or None likewise."""
        return self._counts[1]

    @property
    def _counts(self) -> tuple[int | None, int | None]:
        if self.network is not None:
            return self.network.parameters, self.network.multiply_adds
        axes = next(iter(self.sizes.values()), {})
        return (None, None) if self.tree is None else _counted(self.tree, tuple(axes.items()))

    def multiply_adds_of(self, axes: Mapping[str, int]) -> int | None:
        """Return the multiply-adds of one sample's forward pass at other axes than those of the default."""
        if self.tree is None or not axes:
            return self.multiply_adds
        return _counted(self.tree, tuple(axes.items()))[1]

    def why_no_generation(self, axes: Mapping[str, int], generation: Generation | None = None) -> str:
        """Return the reason that the model cannot generate at these axes, or not for so long, or an empty text."""
        if self.tree is None:
            return "an ONNX file has no place for keys and values"
        layers = model_layers.layers(self.tree, axes or next(iter(self.sizes.values()), {}))
        if layers is None:
            return ""
        generating = vocabulary.module("generating")
        reason = generating.unfit(layers)
        if reason is None and generation is not None:
            reason = generating.too_long(layers, generation.prompt, generation.output)
        return reason or ""

    def refusal(self, axes: Mapping[str, int]) -> str:
        """Return the reason that the model cannot have these axes, or an empty text."""
        try:
            if self.tree is not None:
                _counted(self.tree, tuple(axes.items()))
        except WrongFileError as error:
            return str(error)
        return ""


def load_models(folder: Path, *, follow: bool = True) -> Mapping[str, ModelInfo]:
    """Read every model that ships with the program, by name in alphabetical order.

    They lie in `folder` and in the Python packages within it. Raises `InputError` with a line for each file that is no
    model. Not to `follow` each `build` saves most of the time, and is for files whose layers are known to be right.
    """
    models: dict[str, tuple[ModelInfo, str]] = {}
    mistakes: list[str] = []
    for each in (folder, *sorted(path.parent for path in folder.glob("*/__init__.py"))):
        valid, wrong = _read_all(each, follow=follow)
        models |= valid
        mistakes += wrong.values()
    if mistakes:
        raise InputError(*mistakes)
    if not models:
        raise InputError(f"{folder}: holds no model; it should be the folder benchmarks/models")
    return MappingProxyType({name: info for name, (info, _) in sorted(models.items())})


def own_models(
    folder: Path, shipped: Mapping[str, ModelInfo], called: str = "", within: Path | None = None
) -> tuple[dict[str, ModelInfo], dict[str, str]]:
    """Read every model of a user's folder.

    Returns the valid models by name, and the mistakes of the others by name. `called` is the folder as the user wrote
    it, `within` that of the matrix that names it: a file that reads as if it lay there must lie there. No model may
    have the name of one that is `shipped`.
    """
    shown = called or str(folder)
    models, mistakes = _read_all(folder, shown, within)
    valid: dict[str, ModelInfo] = {}
    for name, (info, text) in models.items():
        if name in shipped:
            mistakes[name] = f"{shown}/{name}.py:1:1: a model {name!r} is there already; give the file another name"
        else:
            digest = hashlib.sha256(text.encode()).hexdigest()
            valid[name] = replace(info, own=ModelFile(name, text, digest, info.definitions))
    if not valid and not mistakes:
        mistakes[""] = f"{shown}: holds no model; a model is a file NAME.py, as docs/models.md shows"
    return valid, mistakes


def _read_all(
    folder: Path, shown: str = "", within: Path | None = None, *, follow: bool = True
) -> tuple[dict[str, tuple[ModelInfo, str]], dict[str, str]]:
    """Return every model of a folder with its text, and the mistake of every file that is none, by name."""
    models: dict[str, tuple[ModelInfo, str]] = {}
    defined, mistakes = definitions(folder, shown or str(folder), within)
    for path in sorted(folder.glob("[!_.]*.py")):
        try:
            info, text = _read(path, within, follow=follow)
            models[path.stem] = replace(info, definitions=defined.get(path.stem, ())), text
        except python_file.UNREADABLE as error:
            mistakes[path.stem] = python_file.mistake(f"{shown or folder}/{path.name}", error, "a model")
    return models, mistakes


def _read(path: Path, within: Path | None, *, follow: bool) -> tuple[ModelInfo, str]:
    if not _NAME.fullmatch(path.stem):
        raise WrongFileError(f"its name {path.stem!r} should be lowercase letters, digits and '_'")
    text, tree = python_file.read(path, within)
    return _info(path.stem, tree, follow=follow), text


def carried_model(file: ModelFile) -> ModelInfo | None:
    """Return the model that the text of a planned file describes, or None if this version of the program rejects it."""
    try:
        return _info(file.name, ast.parse(file.source))
    except python_file.UNREADABLE:
        return None


def _info(name: str, tree: ast.Module, *, follow: bool = True) -> ModelInfo:
    literals = python_file.literals(tree)
    info = ModelInfo(
        name=name,
        title=_literal(literals, "TITLE", str),
        input_shape=_shape(literals),
        classes=_positive(literals, "CLASSES"),
        batch_size=_positive(literals, "BATCH_SIZE"),
        samples=_positive(literals, "SAMPLES"),
        optimizer=MappingProxyType(_optimizer(literals)),
        shortening=durations.shortening(literals),
        quick=durations.quick(literals),
        sizes=sizes(literals),
    )
    _check_parity_rate(literals)
    loss = _loss(literals)
    axes = next(iter(info.sizes.values()), {})
    python_file.require_function(tree, "build", "net", tuple(axes))
    if follow:
        model_layers.layers(tree, axes, loss)
    return replace(info, tree=tree)


@cache
def _counted(tree: ast.Module, axes: tuple[tuple[str, int], ...]) -> tuple[int | None, int | None]:
    """Return parameters and multiply-adds, or None of a file that is not followed."""
    layers = model_layers.layers(tree, dict(axes))
    if layers is None:
        return None, None
    counting = vocabulary.module("counting")
    return counting.parameters(layers), counting.multiply_adds(layers)


def _literal(literals: Literals, name: str, kind: type[Kind]) -> Kind:
    value, place = literals.get(name, (..., python_file.TOP))
    if not isinstance(value, kind):
        raise WrongFileError(f"{name} must be a literal {kind.__name__} at the top of the file", place)
    return value


def _positive(literals: Literals, name: str) -> int:
    value = _literal(literals, name, int)
    if not _is_positive(value):
        raise WrongFileError(f"{name} must be a whole number from 1", literals[name][1])
    return value


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _shape(literals: Literals) -> tuple[int, ...]:
    shape = _literal(literals, "INPUT_SHAPE", tuple)
    if not shape or not all(map(_is_positive, shape)):
        raise WrongFileError(
            "INPUT_SHAPE must hold whole numbers from 1, such as (1, 28, 28)", literals["INPUT_SHAPE"][1]
        )
    return shape


def _optimizer(literals: Literals) -> dict[str, Any]:
    optimizer = _literal(literals, "OPTIMIZER", dict)
    rate = optimizer.get("learning_rate")
    is_number = isinstance(rate, (int, float)) and not isinstance(rate, bool)
    if not isinstance(optimizer.get("name"), str) or not is_number:
        wanted = '{"name": "adam", "learning_rate": 0.001}'
        raise WrongFileError(
            f"OPTIMIZER must have a name and a learning_rate, as in {wanted}", literals["OPTIMIZER"][1]
        )
    try:
        vocabulary.module("optimizers").complete(optimizer)
    except ValueError as error:
        raise WrongFileError(f"OPTIMIZER: {error}", literals["OPTIMIZER"][1]) from None
    return optimizer


def _check_parity_rate(literals: Literals) -> None:
    """Raise `WrongFileError` with its place for a wrong rate, which only the container uses."""
    rate, place = literals.get("PARITY_LEARNING_RATE", (0.01, python_file.TOP))
    if not isinstance(rate, float) or not 0 < rate < math.inf:
        raise WrongFileError("PARITY_LEARNING_RATE must be a number above 0, such as 0.001", place)


def _loss(literals: Literals) -> str:
    """Return the loss of a file. Raises `WrongFileError` with its place for one that the vocabulary lacks."""
    losses = vocabulary.module("losses")
    name, place = literals.get("LOSS", (losses.SOFTMAX_CROSS_ENTROPY, python_file.TOP))
    try:
        return str(losses.known(name))
    except ValueError as error:
        raise WrongFileError(f"LOSS: {error}", place) from None
