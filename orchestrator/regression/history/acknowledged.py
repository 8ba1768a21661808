"""Changes that somebody has acknowledged, with the shape and the loading of their file."""

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic import WithJsonSchema as Schema
from pydantic.config import JsonDict

from orchestrator.catalog import source as yaml_source
from orchestrator.catalog.source import Mistake, Source
from orchestrator.errors import InputError, did_you_mean
from orchestrator.matrix import mistakes
from orchestrator.matrix.values.kinds import Text, VersionText
from orchestrator.matrix.values.shapes import Shape
from orchestrator.regression.printed import PREFIX
from orchestrator.regression.rules import BY_NAME

VERSION: Literal[1] = 1
ANY: Literal["*"] = "*"
BROKE: Literal["broke"] = "broke"
"""Stands in place of a metric for a release that no longer runs; such a change has no size."""
_MOST_SHARE = 100.0


def _share(value: object) -> float:
    text = getattr(value, "text", value)
    number = str(text).strip()
    # A step may take thrice as long; but who writes 1 or 10 means per cents.
    most = _MOST_SHARE if number.endswith("%") else 0.999
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 < share <= most:
        raise ValueError(f"{text!r} is no share of the baseline; write 10% or 0.1")
    return share


def _date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is no date; write 2026-11-22") from None


def _says_when_and_how_large(schema: JsonDict) -> None:
    """Have the schema say what `_names_when_and_how_large` does."""
    schema["oneOf"] = [{"required": ["release"]}, {"required": ["date"]}]
    schema["if"] = {"properties": {"metric": {"const": BROKE}}}
    schema["then"] = {"required": ["release"], "properties": {"up_to": False}}
    schema["else"] = {"required": ["up_to"]}


class AcknowledgedEntry(Shape):
    """A change that is known, and why it is."""

    model_config = ConfigDict(json_schema_extra=_says_when_and_how_large)

    cell: Annotated[Text, Field(min_length=1, max_length=500)] = Field(
        description="Glob over cells as the nightly reports name them: cpu/lenet-train-b200."
    )
    metric: Annotated[Text, Field(min_length=1, max_length=100)] = Field(
        description="Such as throughput; '*': any; broke: that it no longer runs, which '*' does not speak of."
    )
    release: VersionText | None = Field(None, description="The release that brought it.")
    date: Annotated[Text, AfterValidator(_date)] | None = Field(
        None, description="The night that it was first seen, for a change of the host."
    )
    up_to: (
        Annotated[float, BeforeValidator(_share), Schema({"type": ["string", "number"], "examples": ["10%", 0.1]})]
        | None
    ) = Field(None, description="A change beyond this is another one, and alarms; every entry needs it, but broke.")
    reason: Annotated[Text, Field(min_length=1, max_length=1000)] = Field(description="For those who come after.")

    @model_validator(mode="after")
    def _names_when_and_how_large(self) -> Self:
        if (self.release is None) == (self.date is None):
            raise ValueError("names its `release` or its `date`, one of the two")
        if self.metric == BROKE:
            if self.release is None or self.up_to is not None:
                raise ValueError("broke goes with a `release`, and is of no size: drop `date` and `up_to`")
        elif self.up_to is None:
            raise ValueError("'up_to' is missing: how large the known change is, such as 10%; a larger one alarms")
        return self


class AcknowledgedFile(Shape):
    """Changes that are known."""

    version: Literal[1] = Field(description="Of this format.")
    acknowledged: list[AcknowledgedEntry] = Field([], description="Each with its reason.")


@dataclass(frozen=True, slots=True)
class ObservedChange:
    """A change for the worse or the better, between two releases or between two runs."""

    cell: str
    """The part that its two cells share, such as `cpu/lenet-train-b200`."""
    metric: str
    """The name of the metric, or `broke`."""
    ratio: float
    """After over before; 1 for a cell that broke."""
    release: str
    """The release that shows it."""
    since: str = ""
    """The last release that does not show it."""
    date: str = ""
    """The date of the first run that shows it, such as `2026-11-22`."""


def covering(entries: Sequence[AcknowledgedEntry], change: ObservedChange) -> AcknowledgedEntry | None:
    """Return the entry that covers a change, or None."""
    return next((entry for entry in entries if _covers(entry, change)), None)


def _covers(entry: AcknowledgedEntry, change: ObservedChange) -> bool:
    # Whoever has agreed to a slowdown in any metric has not agreed to a crash.
    wanted = {change.metric} if change.metric == BROKE else {ANY, change.metric}
    if entry.metric not in wanted or not fnmatchcase(change.cell, entry.cell):
        return False
    if entry.up_to is not None and abs(change.ratio - 1) > entry.up_to:
        return False
    if entry.release is None:
        return entry.date == change.date
    return _between(change.since, entry.release, change.release)


def _between(since: str, brought_by: str, release: str) -> bool:
    """Return true if the release that brought a change is later than `since`, and not later than `release`."""
    try:
        return (not since or Version(since) < Version(brought_by)) and Version(brought_by) <= Version(release)
    except InvalidVersion:
        return brought_by == release


def load_acknowledged(path: Path | None) -> tuple[AcknowledgedEntry, ...]:
    """Read the acknowledged changes, or none if no file is named. Raises `InputError` with all mistakes."""
    if path is None:
        return ()
    source = yaml_source.read(path, "file of acknowledged changes")
    source.require_version("a file of acknowledged changes", VERSION)
    problems = [*source.mistakes, *mistakes.of_shape(source, AcknowledgedFile, {"acknowledged": AcknowledgedEntry})]
    problems += _acknowledged_meaning(source)
    if problems:
        raise InputError(*mistakes.lines(source, problems))
    return tuple(AcknowledgedFile.model_validate(source.value).acknowledged)


def _acknowledged_meaning(source: Source) -> Iterator[Mistake]:
    entries = source.value.get("acknowledged")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        name = entry.get("metric") if isinstance(entry, dict) else None
        if isinstance(name, str) and name not in {ANY, BROKE, *BY_NAME} and not name.startswith(PREFIX):
            hint = did_you_mean(name, (*BY_NAME, BROKE))
            yield source.mistake(("acknowledged", index, "metric"), f"unknown metric {name!r}{hint}")


def acknowledged_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file of acknowledged changes."""
    return published(AcknowledgedFile.model_json_schema(), "Acknowledged changes")


def published(body: dict[str, Any], title: str) -> dict[str, Any]:
    """Return a JSON Schema as it is published, with its title."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": title}
