"""The shape of every entry of a matrix, and of the settings that a matrix, its models and its rules share."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from pydantic.config import JsonDict

from orchestrator import limits
from orchestrator.matrix.values.kinds import OutputBytes, Positive, Seconds
from orchestrator.modes.parts.settings import Shortening


class Shape(BaseModel):
    """A mapping of the file that takes no other key than its fields.

    Its validator is made at its first use: a part of a run on a cluster reads no matrix.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, defer_build=True)


def or_short(description: str, examples: list[str]) -> Any:
    """Return a change to the schema of a mapping that adds a single word as its short form."""

    def extend(schema: JsonDict) -> None:
        mapping = dict(schema)
        schema.clear()
        schema["anyOf"] = [{"type": "string", "description": description, "examples": list(examples)}, mapping]

    return extend


def keys_of(shape: type[BaseModel]) -> list[str]:
    """Return the keys of a mapping, its own before those that it shares with others."""
    return sorted(shape.model_fields, key=lambda name: name not in shape.__annotations__)


class OutputEntry(Shape):
    """The most that one repeat may leave in its folder; beyond it, the repeat is stopped as `output_limit`."""

    size: OutputBytes | None = Field(None, description="Of all files together: 2g, 512m, bytes.")
    files: Annotated[StrictInt, Field(ge=limits.MIN_OUTPUT_FILES, le=limits.MAX_OUTPUT_FILES)] | None = Field(
        None, description="Files and folders."
    )


class SettingsShape(Shape):
    """The length of a measurement, and the number of its repeats."""

    warmup_steps: Positive | None = Field(None, description="Steps before the clock starts.")
    steps: Positive | None = Field(None, description="Fewest timed steps; or give epochs.")
    epochs: Positive | None = Field(None, description="Timed passes over the dataset; or give steps.")
    timeout: Seconds | None = Field(None, description="Of one container: 90s, 10m, 1h30m or seconds.")
    repeats: Annotated[StrictInt, Field(ge=1, le=limits.MAX_REPEATS)] | None = Field(
        None, description="Fresh containers per cell."
    )
    output: OutputEntry | None = Field(None, description="The most that one repeat may leave in its folder.")
    blocks: Annotated[StrictInt, Field(ge=1, le=limits.MAX_BLOCKS)] | None = Field(
        None, description="Fewest timed blocks, where steps are timed."
    )
    latency_steps: Annotated[StrictInt, Field(ge=0, le=limits.MAX_LATENCY_STEPS)] | None = Field(
        None, description="Single steps of the latency pass; 0 leaves it out."
    )
    evaluate_every_epoch: StrictBool | None = Field(
        None, description="Evaluate the test data after every epoch; false: after the last one alone."
    )


class WorkShape(SettingsShape):
    """Settings that cells must have in common to be compared."""

    parity_batch: Annotated[StrictInt, Field(ge=1, le=limits.MAX_PARITY_BATCH)] | None = Field(
        None, description="Samples of the batch that parity is checked on."
    )


def shortening(entry: SettingsShape) -> Shortening:
    """Return the settings of an entry that make a measurement shorter."""
    parity_batch = entry.parity_batch if isinstance(entry, WorkShape) else None
    return Shortening(entry.blocks, entry.latency_steps, parity_batch, entry.evaluate_every_epoch)
