"""Literals of a model's file that make its measurement shorter."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from orchestrator import limits
from orchestrator.catalog.model_files.python_file import Literals, WrongFileError
from orchestrator.modes.parts.settings import Shortening

_QUICK = {"batch_size": limits.MAX_COUNT, "repeats": limits.MAX_REPEATS}
"""Keys of `QUICK`, with the largest value of each."""


def shortening(literals: Literals) -> Shortening:
    """Return what `BLOCKS`, `LATENCY_STEPS`, `PARITY_BATCH` and `EVALUATE_EVERY_EPOCH` say.

    Raises `WrongFileError` with the place.
    """
    return Shortening(
        blocks=_number(literals, "BLOCKS", 1, limits.MAX_BLOCKS),
        latency_steps=_number(literals, "LATENCY_STEPS", 0, limits.MAX_LATENCY_STEPS),
        parity_batch=_number(literals, "PARITY_BATCH", 1, limits.MAX_PARITY_BATCH),
        evaluate_every_epoch=_switch(literals, "EVALUATE_EVERY_EPOCH"),
    )


def quick(literals: Literals) -> Mapping[str, int]:
    """Return what `QUICK` says of a smoke run. Raises `WrongFileError` with the place."""
    if "QUICK" not in literals:
        return MappingProxyType({})
    value, place = literals["QUICK"]
    if not isinstance(value, dict) or not all(_is_from(value.get(key), 1, _QUICK.get(key, 0)) for key in value):
        wanted = '{"batch_size": 4, "repeats": 1}'
        raise WrongFileError(f"QUICK may have a batch_size and repeats, whole numbers from 1, as in {wanted}", place)
    return MappingProxyType(dict(value))


def _number(literals: Literals, name: str, least: int, most: int) -> int | None:
    if name not in literals:
        return None
    value, place = literals[name]
    if not _is_from(value, least, most):
        raise WrongFileError(f"{name} must be a whole number from {least} to {most}", place)
    return int(value)


def _switch(literals: Literals, name: str) -> bool | None:
    if name not in literals:
        return None
    value, place = literals[name]
    if not isinstance(value, bool):
        raise WrongFileError(f"{name} must be True or False", place)
    return value


def _is_from(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
