"""The shapes of `nightly.yaml` and of the file of acknowledged changes; their JSON Schemas are made from them."""

import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic import WithJsonSchema as Schema

from orchestrator.matrix.shape import Shape
from orchestrator.matrix.values import Axis, PinText, Seconds, Text, Url, VersionText, Word

VERSION: Literal[1] = 1
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
PathText = Annotated[Text, Field(min_length=1, max_length=4096)]
ACCEPTED: Literal["accepted"] = "accepted"


class Accept(StrEnum):
    """Which releases become the baseline of later nights by themselves."""

    WHEN_CLEAN = "when_clean"
    """Those of which every deciding metric is the same or better."""
    UNLESS_WORSE = "unless_worse"
    """Those without a confirmed regression, undecided ones among them."""
    BY_HAND = "by_hand"
    """None: `orchestrator nightly accept` does."""


class WebhookEntry(Shape):
    """Where a night is told."""

    url: Url = Field(description="Gets one POST of JSON a night.")
    secret_variable: Annotated[Text, Field(pattern=_VARIABLE)] | None = Field(
        None, description="Environment variable that holds the key of its HMAC-SHA256 signature."
    )
    timeout: Seconds = Field(10.0, description="Of one attempt.")
    attempts: Annotated[StrictInt, Field(ge=1, le=10)] = Field(3, description="Before it is given up.")


class NightlyFile(Shape):
    """What is watched, against what it is held, and what becomes of it."""

    version: Literal[1] = Field(description="Of this format.")
    matrix: PathText = Field("matrix.yaml", description="What is measured; relative to this file.")
    watch: PinText = Field(
        description="A framework of the catalog; with `package`, the release of it that the package is watched in."
    )
    package: Word | None = Field(None, description="A package beside the framework whose releases are watched.")
    distribution: Word | None = Field(
        None, description="Its name on the index; left out: what the catalog installs on a CPU system."
    )
    baseline: VersionText = Field(
        ACCEPTED, description="The release to hold others against; accepted: the one that was accepted last."
    )
    first: VersionText | None = Field(
        None, description="The release that counts as accepted until another one is, with baseline: accepted."
    )
    accept: Accept = Field(Accept.WHEN_CLEAN, description="Which releases are accepted by themselves.")
    prereleases: StrictBool = Field(False, description="Measure alpha, beta, candidate and development releases too.")
    yanked: StrictBool = Field(False, description="Measure releases that were withdrawn, too.")
    select: Axis[Text] | None = Field(None, description="Only cells that match a glob.")
    exclude: Axis[Text] | None = Field(None, description="No cells that match a glob.")
    metrics: Axis[Text] | None = Field(
        None, description="What decides, such as throughput=2%; left out: throughput and the loss after equal work."
    )
    max_blocks: Annotated[StrictInt, Field(ge=2, le=10_000)] = Field(24, description="After which it is given up.")
    runtime: Literal["auto", "docker", "venv", "host"] = Field("auto", description="Where cells run.")
    budget: Seconds | None = Field(None, description="Of one night; what is not reached is done the next night.")
    attempts: Annotated[StrictInt, Field(ge=1, le=1000)] = Field(
        3, description="Nights on which a release that does not install, or gives no result, is tried."
    )
    index_timeout: Seconds = Field(30.0, description="Of one package index.")
    keep_images: Annotated[StrictInt, Field(ge=0, le=10_000)] | None = Field(
        None, description="Newest measured releases whose images stay; left out: all."
    )
    results: PathText = Field("results", description="Folder of the runs; relative to this file.")
    reports: PathText = Field("nightly", description="Folder of the nights, their reports and the state.")
    acknowledged: PathText | None = Field(None, description="File of the changes that are known.")
    webhook: WebhookEntry | None = Field(None, description="Where a night is told.")

    @model_validator(mode="after")
    def _has_a_baseline(self) -> Self:
        if self.first is not None and self.baseline != ACCEPTED:
            raise ValueError("'first' goes with `baseline: accepted`; drop one of them")
        return self


def _share(value: object) -> float:
    text = getattr(value, "text", value)
    try:
        number = str(text).strip()
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 < share < 1:
        raise ValueError(f"{text!r} is no share of the baseline; write 10% or 0.1")
    return share


def _date(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is no date; write 2026-11-22") from None


class AcknowledgedEntry(Shape):
    """A change that is known, and why it is."""

    cell: Annotated[Text, Field(min_length=1, max_length=500)] = Field(
        description="Glob over cells as the nightly reports name them: cpu/lenet-train-b200."
    )
    metric: Annotated[Text, Field(min_length=1, max_length=100)] = Field(description="Such as throughput; '*': any.")
    release: VersionText | None = Field(None, description="The release that brought it.")
    date: Annotated[Text, AfterValidator(_date)] | None = Field(
        None, description="The night that it was first seen, for a change of the host."
    )
    up_to: (
        Annotated[float, BeforeValidator(_share), Schema({"type": ["string", "number"], "examples": ["10%", 0.1]})]
        | None
    ) = Field(None, description="A change beyond this is another one, and alarms.")
    reason: Annotated[Text, Field(min_length=1, max_length=1000)] = Field(description="For those who come after.")

    @model_validator(mode="after")
    def _names_when(self) -> Self:
        if (self.release is None) == (self.date is None):
            raise ValueError("names its `release` or its `date`, one of the two")
        return self


class AcknowledgedFile(Shape):
    """Changes that are known."""

    version: Literal[1] = Field(description="Of this format.")
    acknowledged: list[AcknowledgedEntry] = Field([], description="Each with its reason.")


def schema() -> dict[str, Any]:
    """The JSON Schema of `nightly.yaml` (draft 2020-12), for editors."""
    return _published(NightlyFile.model_json_schema(), "Nightly regression test")


def acknowledged_schema() -> dict[str, Any]:
    """The same of the file of acknowledged changes."""
    return _published(AcknowledgedFile.model_json_schema(), "Acknowledged changes")


def _published(body: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": title}
