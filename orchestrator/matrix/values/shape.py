"""The base of every mapping of `matrix.yaml`."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.config import JsonDict


class Shape(BaseModel):
    """A mapping of the file that takes no other key than its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


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
