"""Checks of the keys of a load, which belong to some modes and to some scenarios."""

from collections.abc import Iterator

from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.matrix.values.generations import KEYS as LENGTHS
from orchestrator.matrix.values.loads import KEYS, OF_TOKENS, LoadShape
from orchestrator.modes import UNDER_LOAD
from orchestrator.modes.parts.load import Scenario
from orchestrator.wording import listing_of

NEEDED = {"concurrency": Scenario.CLOSED, "rate": Scenario.SERVER}
"""The scenario that a key belongs to, which needs it."""
_EXAMPLES = {"concurrency": "concurrency: 8", "rate": "rate: 20"}


def mistakes(source: Source, loc: Loc, entry: LoadShape, free: frozenset[str] = frozenset()) -> Iterator[Mistake]:
    """Yield the mistakes in the load of an entry of a model. Keys that are `free` may stand in any mode."""
    written = [key for key in KEYS if getattr(entry, key) is not None and key not in free]
    if written and not UNDER_LOAD & set(modes_of(source)):
        modes = listing_of(sorted(UNDER_LOAD), len(UNDER_LOAD))
        yield source.mistake(
            (*loc, written[0]), f"belongs to the mode {modes}; add it to modes, or drop this", key=True
        )
        return
    of_tokens = [key for key in OF_TOKENS if (*loc, key) in source.places]
    if of_tokens and not any((*loc, key) in source.places for key in LENGTHS):
        text = f"belongs to requests for tokens; add {' or '.join(LENGTHS)}, or drop this"
        yield source.mistake((*loc, of_tokens[0]), text, key=True)
    if entry.scenario is None and (*loc, "scenario") in source.places:
        return  # what is wrong with it is said already
    scenarios = entry.scenario or (Scenario.SINGLE_STREAM,)
    for key, scenario in NEEDED.items():
        is_given = (*loc, key) in source.places
        if is_given and scenario not in scenarios:
            text = f"belongs to the scenario '{scenario}'; add scenario: {scenario}, or drop this"
            yield source.mistake((*loc, key), text, key=True)
        elif not is_given and scenario in scenarios:
            yield source.mistake((*loc, "scenario"), f"'{scenario}' needs {key}, as in {_EXAMPLES[key]}")


def modes_of(source: Source) -> tuple[str, ...]:
    """Return the names of the modes that a matrix asks for, as far as they are texts."""
    modes = source.value.get("modes", ())
    return tuple(each for each in (modes if isinstance(modes, list) else (modes,)) if isinstance(each, str))
