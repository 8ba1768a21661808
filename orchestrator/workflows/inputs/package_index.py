"""The package indexes that releases are looked for on."""

from dataclasses import replace

from orchestrator.catalog import Catalog
from orchestrator.domain import BuildSettings


def with_own_index(settings: BuildSettings, catalog: Catalog, framework: str) -> BuildSettings:
    """Return the settings with the framework's own index too, if the catalog names one."""
    entry = catalog.entry(framework)
    own = next((release.cpu_index for release in entry.releases if release.cpu_index), None) if entry else None
    if own is None or settings.no_index:
        return settings
    return replace(settings, extra_indexes=(*settings.extra_indexes, own))
