"""What a bundle tells of each image: its bill of materials and its provenance."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from orchestrator.bundles import layout, provenance, sbom
from orchestrator.bundles.archive import ArchiveError, read_archive
from orchestrator.bundles.blobs import plain
from orchestrator.bundles.export import Export, layer_shelf
from orchestrator.bundles.layer_contents import LayerContents, LayerScan, LayerShelf, merged
from orchestrator.bundles.provenance import Made
from orchestrator.bundles.saving import Stoppable
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.images import ImageFacts
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError
from orchestrator.events import Notice
from orchestrator.images import recipes


def write_bills(export: Export) -> None:
    """Write a bill of materials for every image, from what its layers held as they were saved."""
    for image in export.images:
        _write_bill(export, image.reference, image.config, [layer.diff_id for layer in image.layers])


def write_provenance(export: Export) -> None:
    """Write for every image where it comes from."""
    architecture = str(export.client.version().get("Arch", "amd64"))
    made = recipes(export.plan.images, export.settings, architecture=architecture)
    for image, recipe in zip(export.images, made, strict=True):
        _write_provenance(export, recipe, replace(_facts(export, image.reference), image_id=image.config))


def describe(export: Export, made: Made) -> None:
    """Write both for an image of the engine that is none of the plan's."""
    facts = _facts(export, made.reference)
    _write_bill(export, made.reference, facts.image_id, facts.layers)
    _write_provenance(export, made, facts)


def _facts(export: Export, reference: str) -> ImageFacts:
    facts = engine.facts(export.client, reference)
    if facts is None:
        raise HostError(f"{reference} is not on the engine any more; run the command again")
    return facts


def _write_bill(export: Export, reference: str, image_id: str, diff_ids: Sequence[str]) -> None:
    files = merged(_contents(export, reference, diff_ids))
    if missing := sbom.missing(files):
        export.listener(Notice(f"the bill of materials of {reference} lacks {missing}"))
    bill = sbom.bill(reference, image_id, diff_ids, files)
    _write(export.folder / layout.SBOM / f"{_file_name(reference)}.cdx.json", bill)


def _write_provenance(export: Export, made: Made, facts: ImageFacts) -> None:
    content = provenance.statement(made, facts, export.settings)
    _write(export.folder / layout.PROVENANCE / f"{_file_name(made.reference)}.json", content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def _file_name(reference: str) -> str:
    return reference.replace("/", "_").replace(":", "_")


def _contents(export: Export, reference: str, diff_ids: Sequence[str]) -> list[LayerContents]:
    """What the layers of an image hold: the engine is asked again where an earlier export has not kept it."""
    shelf = layer_shelf(export)
    if any(shelf.get(diff_id) is None for diff_id in diff_ids):
        try:
            with transfer.saved(export.client, [reference]) as stream:
                read_archive(Stoppable(stream, export.stop), _Reading(shelf))  # type: ignore[arg-type]  # reading is all
        except (TransferError, ArchiveError, *transfer.STREAM_ERRORS) as error:
            raise HostError(f"the engine did not save {reference}: {error}") from error
    found = [shelf.get(diff_id) for diff_id in diff_ids]
    if None in found:
        raise HostError(f"what the layers of {reference} hold is not to be had from the cache; run the command again")
    return [contents for contents in found if contents is not None]


class _Reading:
    """Takes layers to look into them, and keeps nothing else."""

    def __init__(self, shelf: LayerShelf) -> None:
        self._shelf = shelf

    @staticmethod
    def known(path: str) -> None:
        """Every layer is looked into."""
        del path

    def take(self, path: str, head: bytes, rest: BinaryIO) -> str:
        """Look into a layer and return its diff id."""
        del path
        digest, scan = hashlib.sha256(), LayerScan()
        for data in plain(head, rest):
            digest.update(data)
            scan.feed(data)
        diff_id = f"sha256:{digest.hexdigest()}"
        self._shelf.put(diff_id, scan.contents())
        return diff_id
