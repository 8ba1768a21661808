"""The tests of this folder that an engine cannot pass, each with the reason: the one list of them."""

import os
from functools import cache

from orchestrator.engine import abilities
from orchestrator.engine.abilities import Abilities, Kind
from orchestrator.engine.client import connect
from orchestrator.errors import HostError

PODMAN: dict[str, str] = {}
"""Of any Podman, by the name of the test or of its file."""
NO_LIMITS: dict[str, str] = {}
"""Of an engine that sets no limits, besides."""


@cache
def of_this_host() -> Abilities | None:
    """Return the abilities of the engine that the tests run with, or None if none answers."""
    try:
        client = connect(os.environ)
    except HostError:
        return None
    try:
        return abilities.read(client)
    finally:
        client.close()


def reason(file: str, test: str, engine: Abilities) -> str | None:
    """Return why a test cannot pass on an engine, or None. `file` is its name without the ending."""
    known = (PODMAN if engine.kind is Kind.PODMAN else {}) | (NO_LIMITS if engine.unlimited else {})
    return known.get(test) or known.get(file)
