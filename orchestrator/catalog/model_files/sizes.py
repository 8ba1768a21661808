"""The sizes of a model, which its file names as `SIZES`, each a set of axes such as its width and depth."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from orchestrator import limits
from orchestrator.catalog.model_files.python_file import Literals, WrongFileError
from orchestrator.modes.parts.sizes import AXES

Sizes = Mapping[str, Mapping[str, int]]
"""Axes with their values, by the name of the size. The first size is the default."""
_NAME = re.compile("[a-z][a-z0-9_]*")


def sizes(literals: Literals) -> Sizes:
    """Return the sizes that a file names, or none. Raises `WrongFileError` with the place."""
    if "SIZES" not in literals:
        return MappingProxyType({})
    value, place = literals["SIZES"]
    wanted = '{"tiny": {"width": 64, "depth": 2}}'
    if not isinstance(value, dict) or not value or not all(isinstance(each, dict) and each for each in value.values()):
        raise WrongFileError(f"SIZES must have a mapping of axes for each size, as in {wanted}", place)
    for name, axes in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise WrongFileError(f"SIZES: {name!r} should be lowercase letters, digits and '_'", place)
        unknown = next((axis for axis in axes if axis not in AXES), None)
        if unknown is not None:
            raise WrongFileError(f"SIZES: {name}: no axis {unknown!r}; there are {', '.join(AXES)}", place)
        if set(axes) != set(next(iter(value.values()))):
            raise WrongFileError(f"SIZES: {name} has other axes than the first size; give every size the same", place)
        for axis, number in axes.items():
            if not _is_count(number):
                raise WrongFileError(f"SIZES: {name}: {axis} must be a whole number from 1", place)
    return MappingProxyType({name: MappingProxyType(dict(axes)) for name, axes in value.items()})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= limits.MAX_COUNT
