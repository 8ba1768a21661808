"""The backends that the catalog says a release was seen to train on."""

from orchestrator.catalog import Catalog
from orchestrator.domain import Framework


def seen_backends(catalog: Catalog, name: str, version: str) -> tuple[Framework, ...]:
    """Return the backends that a release of a framework was seen to train on."""
    entry = catalog.entry(name)
    pins = entry.known_backends.get(version, ()) if entry else ()
    return tuple(Framework(backend, release) for backend, _, release in (pin.partition("==") for pin in pins))
