"""Checks of how long a measurement lasts, whose keys exclude each other or have bounds in a model."""

from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.catalog import ModelInfo
from orchestrator.catalog.source import Loc, Mistake, Source


def mistakes(source: Source, loc: Loc, entry: Mapping[str, Any], model: ModelInfo | None = None) -> Iterator[Mistake]:
    """Yield the mistakes of an entry with settings, which may be one of a model."""

    def at(key: str, text: str) -> Mistake:
        return source.mistake((*loc, key), text, key=True)

    if entry.get("epochs") is not None:
        if entry.get("steps") is not None:
            yield at("epochs", "steps and epochs exclude each other; keep one")
        if entry.get("blocks") is not None:
            yield at("blocks", "blocks and epochs exclude each other, since each epoch is a block; keep one")
    batch = entry.get("parity_batch")
    if model is not None and batch is not None and batch > model.samples:
        yield source.mistake(
            (*loc, "parity_batch"), f"{batch} is more than the {model.samples} samples that {model.name} has"
        )
