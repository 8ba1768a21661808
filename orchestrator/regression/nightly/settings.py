"""The shape of `nightly.yaml`, from which its JSON Schema is made."""

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt, model_validator
from pydantic import WithJsonSchema as Schema

from orchestrator.matrix.values.kinds import Axis, PinText, Seconds, Text, VersionText, Word
from orchestrator.matrix.values.shapes import Shape
from orchestrator.regression.history.acknowledged import published

VERSION: Literal[1] = 1
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
PathText = Annotated[Text, Field(min_length=1, max_length=4096)]
ACCEPTED: Literal["accepted"] = "accepted"


class Accept(StrEnum):
    """The releases that become the baseline of later nights by themselves."""

    WHEN_CLEAN = "when_clean"
    """Releases of which every deciding metric is the same or better."""
    UNLESS_WORSE = "unless_worse"
    """Releases without a confirmed regression, including undecided ones."""
    BY_HAND = "by_hand"
    """None, as only `orchestrator nightly accept` accepts releases."""


def _posted_to(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]\S*", text):
        # The message does not quote the text, which may hold a password.
        raise ValueError("is no URL that one can post to; write https://HOST/PATH")
    return text


class WebhookEntry(Shape):
    """The receivers of a night's result."""

    url: Annotated[Text, AfterValidator(_posted_to)] = Field(description="Gets one POST of JSON a night.")
    secret_variable: Annotated[Text, Field(pattern=_VARIABLE)] | None = Field(
        None, description="Environment variable that holds the key of its HMAC-SHA256 signature."
    )
    timeout: Seconds = Field(10.0, description="Of one attempt.")
    attempts: Annotated[StrictInt, Field(ge=1, le=10)] = Field(
        3, description="After which it is reported as not delivered."
    )


def _tolerance(value: object) -> float:
    text = str(getattr(value, "text", value)).strip()
    number = text.removesuffix("%")
    try:
        share = float(number) / (100 if number != text else 1)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 < share < 1:
        raise ValueError(f"{text!r} is no tolerance; write a share of the anchor, such as 5% or 0.05")
    return share


class AnchorEntry(Shape):
    """The fixed release that sums of small losses are measured against."""

    release: VersionText = Field(description="Measured in the same blocks as baseline and candidate.")
    tolerance: Annotated[
        float, BeforeValidator(_tolerance), Schema({"type": ["string", "number"], "examples": ["5%", 0.05]})
    ] = Field("5%", validate_default=True, description="A loss beyond it, since the anchor, alarms once.")


class NightlyFile(Shape):
    """The package that is watched, its baseline, and the consequences of a result."""

    version: Literal[1] = Field(description="Of this format.")
    matrix: PathText = Field("matrix.yaml", description="What is measured; relative to this file.")
    watch: PinText = Field(
        description="A framework, or a package that the matrix names; with `package`, one release of a framework to "
        "watch it in."
    )
    package: Word | None = Field(None, description="Another package, whose releases are watched.")
    distribution: Word | None = Field(
        None, description="Its name on the index; left out: what the catalog installs on a CPU system."
    )
    baseline: VersionText = Field(
        ACCEPTED, description="The release to hold others against; accepted: the one that was accepted last."
    )
    first: VersionText | None = Field(
        None, description="The release that counts as accepted until another one is, with baseline: accepted."
    )
    accept: Accept = Field(
        Accept.WHEN_CLEAN,
        description="Which releases are accepted by themselves; unless_worse: undecided ones too; by_hand: none.",
    )
    anchor: AnchorEntry | None = Field(None, description="Where small losses of accepted releases add up.")
    self_test: StrictBool = Field(
        False, description="On nights without a new release, measure the baseline against itself."
    )
    heartbeat: Annotated[StrictInt, Field(ge=0, le=1000)] = Field(
        3, description="Nights of 24 hours without a result, after which that is an alarm; 0: never."
    )
    prereleases: StrictBool = Field(False, description="Measure alpha, beta, candidate and development releases too.")
    yanked: StrictBool = Field(False, description="Measure releases that were withdrawn, too.")
    select: Axis[Text] | None = Field(None, description="Only cells that match a glob.")
    exclude: Axis[Text] | None = Field(None, description="No cells that match a glob.")
    metrics: Axis[Text] | None = Field(
        None, description="What decides, such as throughput=2%; left out: throughput and the loss after equal work."
    )
    max_blocks: Annotated[StrictInt, Field(ge=2, le=10_000)] = Field(
        24, description="Of a trial; what is undecided after so many stays so."
    )
    runtime: Literal["auto", "docker", "venv", "host"] = Field("auto", description="Where cells run; as --runtime.")
    budget: Seconds | None = Field(None, description="Of one night; what is not reached is done the next night.")
    attempts: Annotated[StrictInt, Field(ge=1, le=1000)] = Field(
        3,
        description="Nights on which a release that does not install, or never starts, is tried; not the host's own.",
    )
    index_timeout: Seconds = Field(30.0, description="Of one package index.")
    keep_images: Annotated[StrictInt, Field(ge=0, le=10_000)] | None = Field(
        None, description="Newest releases measured here whose images stay, with the baseline's; left out: all."
    )
    results: PathText = Field("results", description="Folder of the runs; relative to this file.")
    reports: PathText = Field("nightly", description="Folder of the nights, their reports and the state.")
    acknowledged: PathText | None = Field(None, description="File of the changes that are known.")
    webhook: WebhookEntry | None = Field(None, description="Where a night is reported.")

    @model_validator(mode="after")
    def _has_a_baseline(self) -> Self:
        if self.first is not None and self.baseline != ACCEPTED:
            raise ValueError("'first' goes with `baseline: accepted`; drop one of them")
        if "accept" in self.model_fields_set and self.baseline != ACCEPTED:
            raise ValueError("'accept' goes with `baseline: accepted`; a pinned baseline stays, drop one of them")
        return self


def schema() -> dict[str, Any]:
    """Return the JSON Schema of `nightly.yaml` (draft 2020-12), for editors."""
    return published(NightlyFile.model_json_schema(), "Nightly regression test")
