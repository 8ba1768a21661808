"""The bill of materials and the provenance of every image in a bundle."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.bundles.describe import provenance, sbom
from orchestrator.bundles.describe.provenance import ImageOrigin
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.write.request import Export
from orchestrator.engine import images as engine
from orchestrator.engine.images import BuildError, ImageFacts
from orchestrator.errors import HostError
from orchestrator.images import recipes


def write_bills(export: Export) -> None:
    """Write a bill of materials for every image. Raises `TransferStoppedError` after a request to stop."""
    for image in export.images:
        write_bill(export, image.reference, image.config, [layer.diff_id for layer in image.layers])


def write_bill(export: Export, reference: str, image_id: str, diff_ids: Sequence[str]) -> None:
    """Write the bill of one image on the engine, with a notice if it is incomplete.

    Raises `TransferStoppedError` after a request to stop.
    """
    files, missing = _package_files(export, reference)
    if export.stop.is_set():
        raise TransferStoppedError(STOPPED)
    try:
        bill = sbom.bill(reference, image_id, diff_ids, files)
    # An image may list anything, and names that no package can have are refused by libraries in many ways.
    except (ValueError, TypeError, RecursionError) as error:
        missing = f"all packages, since what its files list cannot be described: {error}"
        bill = sbom.bill(reference, image_id, diff_ids, {})
    if missing:
        export.say(f"the bill of materials of {reference} lacks {missing}")
    path = export.folder / layout.SBOM / f"{layout.file_name(reference)}.cdx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bill)


def _package_files(export: Export, reference: str) -> tuple[Mapping[str, str], str]:
    """Return the package files of an image, and what they lack, empty if they are complete."""
    try:
        files = export.package_files(export.client, reference, export.stop)
    except (BuildError, ValueError) as error:
        return {}, f"all packages, since its Python did not list them: {error}"
    return files, sbom.missing(files)


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
