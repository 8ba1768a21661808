"""What a bundle tells of each image: its bill of materials and its provenance."""

import hashlib
from typing import BinaryIO

from orchestrator.bundles import layout, provenance, sbom
from orchestrator.bundles.archive import ArchiveError, read_archive
from orchestrator.bundles.blobs import plain
from orchestrator.bundles.export import Export, layer_shelf
from orchestrator.bundles.layer_contents import LayerContents, LayerScan, LayerShelf, merged
from orchestrator.bundles.manifest import Image
from orchestrator.engine import images as engine
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError
from orchestrator.images import recipes


def write_bills(export: Export) -> None:
    """Write a bill of materials for every image, from what its layers held as they were saved."""
    folder = export.folder / layout.SBOM
    folder.mkdir()
    shelf = layer_shelf(export)
    for image in export.images:
        diff_ids = [layer.diff_id for layer in image.layers]
        bill = sbom.bill(image.reference, image.config, diff_ids, merged(_contents(export, image, shelf)))
        (folder / f"{_file_name(image)}.cdx.json").write_bytes(bill)


def write_provenance(export: Export) -> None:
    """Write for every image where it comes from."""
    folder = export.folder / layout.PROVENANCE
    folder.mkdir()
    architecture = str(export.client.version().get("Arch", "amd64"))
    made = recipes(export.plan.images, export.settings, architecture=architecture)
    for image, recipe in zip(export.images, made, strict=True):
        facts = engine.facts(export.client, image.reference)
        if facts is None:
            raise HostError(f"{image.reference} is not on the engine any more; run the command again")
        (folder / f"{_file_name(image)}.json").write_bytes(provenance.statement(recipe, facts, export.settings))


def _file_name(image: Image) -> str:
    return image.reference.replace("/", "_").replace(":", "_")


def _contents(export: Export, image: Image, shelf: LayerShelf) -> list[LayerContents]:
    """What the layers of an image hold: the engine is asked again where an earlier export has not kept it."""
    found = [shelf.get(layer.diff_id) for layer in image.layers]
    if None in found:
        try:
            with transfer.saved(export.client, [image.reference]) as stream:
                read_archive(stream, _Reading(shelf))
        except (TransferError, ArchiveError, *transfer.STREAM_ERRORS) as error:
            raise HostError(f"the engine did not save {image.reference}: {error}") from error
        found = [shelf.get(layer.diff_id) for layer in image.layers]
    return [contents or LayerContents() for contents in found]


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
