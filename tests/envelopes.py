"""The documents that commands print for programs, without their envelopes."""

import json
import re
from typing import Any


def data_of(text: str | bytes) -> Any:
    """Return the data of a document, whose envelope must be right. Numbers that JSON does not know are refused."""
    envelope = json.loads(text, parse_constant=_refuse)
    assert list(envelope) == ["schema", "orchestrator", "data"]
    assert re.fullmatch(r"[a-z-]+/[1-9][0-9]*", envelope["schema"])
    assert isinstance(envelope["orchestrator"], str)
    return envelope["data"]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
