"""The provenance statements of a bundle."""

from dataclasses import replace

from orchestrator.bundles.describe import provenance
from orchestrator.bundles.describe.provenance import ImageOrigin
from orchestrator.bundles.format import layout
from orchestrator.bundles.write.request import Export
from orchestrator.engine import images as engine
from orchestrator.engine.images import ImageFacts
from orchestrator.errors import HostError
from orchestrator.images import recipes


def write_provenance(export: Export) -> None:
    """Write the provenance of every image."""
    architecture = str(export.client.version().get("Arch", "amd64"))
    origins = recipes(export.plan.images, export.settings, architecture=architecture)
    for image, origin in zip(export.images, origins, strict=True):
        write_statement(export, origin, replace(image_facts(export, image.reference), image_id=image.config))


def write_statement(export: Export, origin: ImageOrigin, facts: ImageFacts) -> None:
    """Write the provenance of one image."""
    path = export.folder / layout.PROVENANCE / f"{layout.file_name(origin.reference)}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(provenance.statement(origin, facts, export.settings))


def image_facts(export: Export, reference: str) -> ImageFacts:
    """Return the facts of an image on the engine. Raises `HostError` if it is gone."""
    facts = engine.facts(export.client, reference)
    if facts is None:
        raise HostError(f"{reference} is not on the engine any more; run the command again")
    return facts
