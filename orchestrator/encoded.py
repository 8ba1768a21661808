"""JSON text that is fit for a terminal, a pipe and a file alike."""

import json
import re
from functools import cache
from typing import Any

_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What `json` leaves as it is: delete and the second set of control characters, marks of direction, ends of lines that
are none to JSON, and halves of surrogate pairs, which UTF-8 cannot hold. In JSON they stand inside a string only."""


def json_text(document: Any, indent: int | None = None) -> str:
    """Encode plain values, other languages readable, whatever could steer a terminal or disguise a line escaped.

    The document means the same to a program. Raises `ValueError` where there is a number that JSON does not know.
    """
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", _encoder(indent).encode(document))


@cache
def _encoder(indent: int | None) -> json.JSONEncoder:
    return json.JSONEncoder(indent=indent, ensure_ascii=False, allow_nan=False)
