"""Events and errors as JSON lines, one object each, for programs that follow a command."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_core import from_json

from orchestrator.documents import json_text
from orchestrator.events import Event


@dataclass(frozen=True, slots=True)
class Error:
    """A mistake in the input, or a fault of the host or of the work."""

    message: str


_KINDS = (*get_args(Event), Error)


@dataclass(frozen=True)
class LinesView:
    """A listener that writes each event as one line of JSON."""

    write: Callable[[str], object]
    """Gets a line with its newline: `sys.stderr.write`."""
    clock: Callable[[], datetime]
    """The time in UTC."""

    def __call__(self, event: Event) -> None:
        """Write an event."""
        self.write(event_line(event, self.clock()))


def event_line(event: Event | Error, at: datetime) -> str:
    """Return `{"event": "repeat_started", "at": "2026-01-02T03:04:05.678+00:00", "cell_id": …}` and a newline."""
    head = {"event": event_name(type(event)), "at": at.isoformat(timespec="milliseconds")}
    return json_text(head | _adapters()[type(event)].dump_python(event)) + "\n"


def parsed_line(line: bytes) -> tuple[Event, datetime] | None:
    """Return the event of a line with its time, or None for anything else."""
    try:
        document = from_json(line, allow_inf_nan=False)
        kind, at = _named()[document.pop("event")], datetime.fromisoformat(document.pop("at"))
        return _adapters()[kind].validate_python(document), at.astimezone(UTC)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


@cache
def _named() -> dict[str, type]:
    return {event_name(kind): kind for kind in get_args(Event)}


@cache
def _adapters() -> dict[type, TypeAdapter[Any]]:
    return {kind: TypeAdapter(kind) for kind in _KINDS}


def event_name(kind: type) -> str:
    """Return `repeat_started` for `RepeatStarted`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def event_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line."""
    definitions: dict[str, Any] = {}
    for kind in _KINDS:
        schema = TypeAdapter(kind).json_schema(ref_template="#/$defs/{model}", mode="serialization")
        definitions |= schema.pop("$defs", {})
        head = {"event": {"const": event_name(kind)}, "at": {"type": "string", "format": "date-time"}}
        schema["properties"] = head | schema["properties"]
        schema["required"] = [name for name in schema["properties"] if name not in getattr(kind, "LATER", ())]
        definitions[kind.__name__] = schema | {"additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Event",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in _KINDS],
        "$defs": definitions,
    }
