"""Checks of the lengths of a generation, which belong to some modes, and to models that can generate."""

from collections.abc import Iterator

from orchestrator.catalog import ModelInfo
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.matrix.checks.load import modes_of
from orchestrator.matrix.values.generations import KEYS, GenerationShape
from orchestrator.modes import GENERATING
from orchestrator.wording import listing_of


def mistakes(source: Source, loc: Loc, entry: GenerationShape, info: ModelInfo | None) -> Iterator[Mistake]:
    """Yield the mistake in the lengths of an entry of a model, if there is one."""
    written = [key for key in KEYS if getattr(entry, key) is not None]
    if not written:
        return
    if not GENERATING & set(modes_of(source)):
        modes = listing_of(sorted(GENERATING), len(GENERATING))
        text = f"belongs to the modes {modes}; add one of them to modes, or drop this"
        yield source.mistake((*loc, written[0]), text, key=True)
    elif info is not None and (reason := info.why_no_generation({})):
        yield source.mistake((*loc, written[0]), f"{info.name} cannot generate: {reason}; drop this", key=True)
