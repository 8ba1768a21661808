"""JSON for programs, with stable names and SI units."""

from collections.abc import Iterator
from typing import Any

from orchestrator.encoded import json_text


def texts(value: Any) -> Iterator[str]:
    """Render plain values, indented, or a text that is JSON already."""
    yield value if isinstance(value, str) else json_text(value, indent=1) + "\n"
