"""The keys of a generation, which an entry of a model has and a rule names."""

from typing import Annotated, Any

from pydantic import Field, StrictInt

from orchestrator import limits
from orchestrator.matrix.model import GenerationAxes
from orchestrator.matrix.values.kinds import Axis
from orchestrator.matrix.values.shapes import Shape
from orchestrator.modes.parts.lengths import OUTPUT, PROMPT

KEYS = ("prompt_length", "output_length")
Tokens = Annotated[StrictInt, Field(ge=1, le=limits.MAX_TOKENS)]


class GenerationShape(Shape):
    """The lengths of a generation, in the mode generate, and in the mode requests where it is for tokens."""

    prompt_length: Axis[Tokens] | None = Field(
        None, description=f"Tokens of a prompt (modes generate and requests); {PROMPT} by default."
    )
    output_length: Axis[Tokens] | None = Field(
        None,
        description=f"Tokens that are generated after a prompt (modes generate and requests); {OUTPUT} by default.",
    )


def axes(entry: GenerationShape) -> GenerationAxes:
    """Return the lengths as an entry has them."""
    return GenerationAxes(entry.prompt_length or (), entry.output_length or ())


def long_form(generation: GenerationAxes) -> dict[str, Any]:
    """Return the keys that are set, as plain values for YAML."""
    values = (generation.prompts, generation.outputs)
    return {key: list(listed) for key, listed in zip(KEYS, values, strict=True) if listed}
