"""The images of a bundle, as an OCI layout of compressed layers."""

from pathlib import Path

from orchestrator.bundles.format import layout, oci
from orchestrator.bundles.format.manifest import Image
from orchestrator.bundles.format.streams import Meter
from orchestrator.bundles.write import output_folder
from orchestrator.bundles.write.blobs import Blobs
from orchestrator.bundles.write.layer_paths import LayerPaths
from orchestrator.bundles.write.request import Export
from orchestrator.bundles.write.saving import ImageToSave, save_images
from orchestrator.events import Notice
from orchestrator.images import Built


def write_images(export: Export) -> tuple[Image, ...]:
    """Write the layout with every image of the plan. Raises as `save_images` does."""
    blobs = _open_blobs(export)
    to_save = [_image_to_save(spec.name, export.built[spec.name]) for spec in export.plan.images]
    configs = save_images(export.client, to_save, blobs, export.stop, lambda line: export.listener(Notice(line)))
    images = tuple(_manifest_entry(image, configs[image.reference], blobs) for image in to_save)
    _layer_paths(export).add(blobs.paths)
    blobs.remove_others(layer for image in images for layer in image.layers)
    _write(export.folder / layout.OCI_LAYOUT, oci.LAYOUT)
    sizes = [blobs.written[image.manifest] for image in images]
    _write(export.folder / layout.OCI_INDEX, oci.index(images, sizes))
    output_folder.write_state(export.folder, blobs.own, blobs.paths, only_images=False)
    return images


def _open_blobs(export: Export) -> Blobs:
    base_layers = export.base.manifest.layers if export.base else {}
    progress = Meter(export.listener, "packed", None)
    blobs = Blobs(export.folder, base_layers, progress, _layer_paths(export).by_path())
    for config in export.base.configs() if export.base else ():
        blobs.offer(config)
    return blobs


def _layer_paths(export: Export) -> LayerPaths:
    return LayerPaths(export.workshop.cache / "layer-paths.json")


def _image_to_save(name: str, built: Built) -> ImageToSave:
    alias = built.reference.rpartition("-")[0]
    return ImageToSave(name, built.reference, tuple(dict.fromkeys((alias, built.reference))))


def _manifest_entry(image: ImageToSave, config: str, blobs: Blobs) -> Image:
    diff_ids, config_bytes = blobs.config(config)
    layers = tuple(blobs.layers[diff_id] for diff_id in diff_ids)
    manifest = blobs.add(oci.image_manifest(config, config_bytes, layers))
    return Image(
        name=image.name, reference=image.reference, tags=image.tags, config=config, manifest=manifest, layers=layers
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
