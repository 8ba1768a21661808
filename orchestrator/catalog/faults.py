"""Known faults of frameworks that parity checks have met, which `images/known_faults.yaml` lists for reports."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.catalog import source
from orchestrator.domain import OptionValue
from orchestrator.errors import InputError, plain_words
from orchestrator.modes.parts.rules import Evidence
from orchestrator.resources import IMAGES


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KnownFault(_Shape):
    """One fault, with the conditions under which it occurs."""

    name: str
    frameworks: Annotated[tuple[str, ...], Field(min_length=1)]
    """Pins as in `matrix.yaml`, such as `mxnet==1.2.0` or `keras==2.3.1 on cntk`."""
    layers: tuple[str, ...] = ()
    """Kinds of layers, all of which the model must have."""
    options: dict[str, OptionValue] = {}
    explains: tuple[Evidence, ...]
    fault: str
    """The fault in words that follow `known fault:`."""


class _Faults(_Shape):
    faults: tuple[KnownFault, ...]


@cache
def load_faults(path: Path = IMAGES / "known_faults.yaml") -> tuple[KnownFault, ...]:
    """Read the known faults, by default those that ship with the program, once: a report needs them for every run.

    Raises `InputError` with a line for every mistake.
    """
    read = source.read(path, "list of known faults")
    mistakes = list(read.mistakes)
    try:
        table = _Faults.model_validate(read.value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)
        mistakes += [read.mistake(each["loc"], plain_words(each["msg"])) for each in wrong]
    if mistakes:
        raise InputError(*(mistake.at(read.name) for mistake in sorted(mistakes)))
    return table.faults
