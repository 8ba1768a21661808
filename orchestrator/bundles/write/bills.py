"""The bills of materials of a bundle."""

from collections.abc import Sequence

from orchestrator.bundles.describe import sbom
from orchestrator.bundles.describe.layer_contents import image_files
from orchestrator.bundles.format import layout
from orchestrator.bundles.write.layer_reading import layer_contents
from orchestrator.bundles.write.request import Export
from orchestrator.events import Notice


def write_bills(export: Export) -> None:
    """Write a bill of materials for every image from what its layers held when they were saved."""
    for image in export.images:
        write_bill(export, image.reference, image.config, [layer.diff_id for layer in image.layers])


def write_bill(export: Export, reference: str, image_id: str, diff_ids: Sequence[str]) -> None:
    """Write the bill of one image on the engine, with a notice if it is incomplete."""
    files = image_files(layer_contents(export, reference, diff_ids))
    if missing := sbom.missing(files):
        export.listener(Notice(f"the bill of materials of {reference} lacks {missing}"))
    bill = sbom.bill(reference, image_id, diff_ids, files)
    path = export.folder / layout.SBOM / f"{layout.file_name(reference)}.cdx.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bill)
