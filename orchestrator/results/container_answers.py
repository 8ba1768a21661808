"""The `result.json` that a container wrote, read and checked."""

import errno
import os
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from orchestrator.errors import first_problem
from orchestrator.files import open_plain
from orchestrator.results.contract import SCHEMA, Result

MAX_RESULT_BYTES = 64 * 1024 * 1024
MAX_RESULT_VALUES = 4_000_000
"""More than a day of blocks has; each takes a hundred bytes of memory, however few it takes in the file."""
_Answer = TypeVar("_Answer", bound=BaseModel)


class InvalidResultError(ValueError):
    """A container's answer that breaks the contract. The message is one line."""


def read_result(path: Path | str) -> Result:
    """Read and check the answer of a measurement. Raises as `read_answer` does."""
    return read_answer(path, Result)


def read_answer(path: Path | str, kind: type[_Answer]) -> _Answer:
    """Read and check a container's `result.json`, which is to be of this kind.

    Raises `InvalidResultError` with one line that says what is wrong.
    """
    try:
        with open_plain(path) as file:
            if os.fstat(file.fileno()).st_size > MAX_RESULT_BYTES:
                raise InvalidResultError(f"result.json is larger than {MAX_RESULT_BYTES} bytes")
            content = file.read()
    except FileNotFoundError:
        raise InvalidResultError("no result.json was written") from None
    except OSError as error:
        # A link is said to have too many levels.
        why = "is no plain file" if error.errno in {0, errno.ELOOP} else f"cannot be read: {error.strerror}"
        raise InvalidResultError(f"result.json {why}") from error
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_RESULT_VALUES:
        raise InvalidResultError(f"result.json holds more than {MAX_RESULT_VALUES} values")
    try:
        # Unlike the standard library's, this one refuses NaN, half characters and depths that later steps cannot take.
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        hint = "; NaN and infinity are no JSON numbers" if b"NaN" in content or b"Infinity" in content else ""
        raise InvalidResultError(f"result.json is not JSON: {str(error)[:200]}{hint}") from None
    if not isinstance(document, dict):
        raise InvalidResultError("result.json is not an object")
    schema = document.get("schema")
    if isinstance(schema, int) and not isinstance(schema, bool) and schema > SCHEMA:
        raise InvalidResultError(f"result.json has schema {schema}; this orchestrator reads up to {SCHEMA}: upgrade it")
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise InvalidResultError(f"result.json: {first_problem(error)}") from None
