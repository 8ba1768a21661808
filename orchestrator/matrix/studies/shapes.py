"""The shape of a matrix that repeats a published study, with the claims of that study."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from orchestrator.matrix.file import SECTIONS, MatrixFile, RuleEntry
from orchestrator.matrix.values.kinds import Text, Url, Word
from orchestrator.matrix.values.shapes import Shape
from orchestrator.modes import METRICS
from orchestrator.modes.parts.claimed import claimed_metric

MAX_LINE = 1000
LINE = r"^[^\x00-\x1f\x7f-\x9f]+$"
LINK = r"^https?://[^\s\x00-\x1f\x7f-\x9f]+$"
SMALLEST, LARGEST = 1e-30, 1e30
"""Bounds of a published value, so that no ratio of two is beyond a float."""
Line = Annotated[Text, Field(min_length=1, max_length=MAX_LINE, pattern=LINE)]
Value = Annotated[StrictInt | StrictFloat, Field(ge=SMALLEST, le=LARGEST)]


def _metric(text: str) -> str:
    claimed_metric(text, METRICS)
    return text


class PublishedEntry(Shape):
    """The published value: the ratio, or the values of both cells."""

    ratio: Value | None = Field(None, description="The metric of the first cell over that of the second.")
    of: Value | None = Field(None, description="The value of the first cell.")
    over: Value | None = Field(None, description="The value of the second cell.")
    approximate: StrictBool = Field(False, description="true for a value that was read off a plot.")

    @model_validator(mode="after")
    def _is_one_ratio(self) -> "PublishedEntry":
        both = self.of is not None and self.over is not None
        if both == (self.ratio is not None) or (self.of is None) != (self.over is None):
            raise ValueError("needs either a ratio, or the two values `of` and `over`")
        return self


class ClaimEntry(Shape):
    """A published statement about two cells of this matrix."""

    name: Word = Field(description="A name of yours, unique in this file.")
    text: Line = Field(description="The statement in words.")
    metric: Annotated[Line, AfterValidator(_metric)] = Field(
        description="Such as throughput, accuracy after epoch 5 or total_time without epoch 1 after epoch 3.",
        examples=["throughput", "total_time after epoch 10"],
    )
    both: RuleEntry = Field(RuleEntry(), description="What both cells have in common.")
    of: RuleEntry = Field(description="The first cell, whose value is divided by that of the second.")
    over: RuleEntry = Field(description="The second cell.")
    published: PublishedEntry = Field(description="The published value.")
    source: Line = Field(description="Where it was published, such as a table or a figure of the study.")
    flaw: Line | None = Field(
        None, description="The reason that the published value says nothing of these cells; the claim is not judged."
    )
    caveats: list[Line] = Field([], description="What else to know before both values are compared.")


class StandInEntry(Shape):
    """A release that runs in place of something that is no longer published."""

    published: Line = Field(description="What the study used.")
    used: Line = Field(description="What this file uses.")
    reason: Line = Field(description="Why the first cannot be used.")


class LeftOutEntry(Shape):
    """A part of the study that this file leaves out."""

    part: Line = Field(description="What is left out.")
    reason: Line = Field(description="Why.")


class StudyEntry(Shape):
    """The published study that this matrix repeats; shown in reports."""

    title: Line = Field(description="Of the study.")
    citation: Line | None = Field(None, description="Authors, title and year.")
    link: Annotated[Url, Field(pattern=LINK)] | None = Field(None, description="Where it is published.")
    stand_ins: list[StandInEntry] = Field([], description="What runs in place of what is no longer published.")
    left_out: list[LeftOutEntry] = Field([], description="Parts of the study that this matrix leaves out.")


class StudyFile(MatrixFile):
    """Frameworks × systems × models × modes × options: what is benchmarked, and how."""

    study: StudyEntry | None = Field(None, description="The published study that this matrix repeats.")
    claims: list[ClaimEntry] = Field([], description="Published statements that reports compare with what is measured.")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of `matrix.yaml` (draft 2020-12), for editors."""
    body = StudyFile.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **body,
        "anyOf": [{"required": [section]} for section in SECTIONS],
        "title": "Benchmark matrix",
    }
