"""What every mapping of `matrix.yaml` has in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict


class Shape(BaseModel):
    """A mapping of the file: no key but those named here."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def or_short(description: str, examples: list[str]) -> Any:
    """Make the schema of a mapping say that a single word is its short form."""

    def extend(schema: JsonDict) -> None:
        mapping = dict(schema)
        schema.clear()
        schema["anyOf"] = [{"type": "string", "description": description, "examples": list(examples)}, mapping]

    return extend


def keys_of(shape: type[BaseModel]) -> list[str]:
    """Keys of a mapping, its own before those it shares with others: what a person looks for first."""
    return sorted(shape.model_fields, key=lambda name: name not in shape.__annotations__)
