"""Checks of options that are variables which the catalog sets itself.

An environment that they changed would be another than its pin, its image and its results say.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.catalog import Catalog
from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.domain import VARIABLE
from orchestrator.matrix import file
from orchestrator.matrix.mistakes import entries
from orchestrator.matrix.model import EVERY_FRAMEWORK, parse_pin
from orchestrator.wording import listing


def mistakes(source: Source, catalog: Catalog) -> Iterator[Mistake]:
    """Yield a mistake for every `env.NAME` that the catalog sets in an environment that it would reach.

    The catalog sets nothing in an image of the user's own.
    """
    listed = list(entries(source, "frameworks", file.FrameworkEntry))
    made = list(dict.fromkeys(entry.name for _, entry in listed if not _is_own(entry)))
    own = {entry.name for _, entry in listed} - set(made)
    section = source.value.get("options")
    for owner, options in section.items() if isinstance(section, dict) else ():
        reached = [name for name in made if owner in (EVERY_FRAMEWORK, name, catalog.family(name))]
        yield from _of_options(source, catalog, ("options", owner), options, reached)
    for loc, entry in listed:
        if not _is_own(entry):
            yield from _of_options(source, catalog, (*loc, "options"), entry.options, [entry.name])
    for loc, include in entries(source, "include", file.IncludeEntry):
        named = dict.fromkeys(parse_pin(text).name for text in include.framework or ())
        yield from _of_options(source, catalog, loc, include.options, [name for name in named if name not in own])


def _is_own(entry: file.FrameworkEntry) -> bool:
    return bool(entry.image or entry.dockerfile)


def _of_options(
    source: Source, catalog: Catalog, loc: Loc, options: Mapping[str, Any] | Any, reached: Sequence[str]
) -> Iterator[Mistake]:
    for option in options if isinstance(options, Mapping) else ():
        variable = str(option).removeprefix(VARIABLE)
        if variable == option:
            continue
        setting = [name for name in reached if variable in catalog.variables(name)]
        if setting:
            text = (
                f"{variable} is fixed by the catalog for {listing(setting)}; drop this, or bring an image of your own"
            )
            yield source.mistake((*loc, option), text, key=True)
