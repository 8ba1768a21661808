"""The export of a bundle. Images come first, then every other part, and the manifest last."""

from collections.abc import Sequence
from dataclasses import replace

import requests

from orchestrator.bundles.format.manifest import Manifest
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.write import output_folder
from orchestrator.bundles.write.images import write_images
from orchestrator.bundles.write.request import Export, Part
from orchestrator.engine.client import is_lost
from orchestrator.errors import HostError, InputError, remedy


def write(export: Export, parts: Sequence[Part]) -> Manifest:
    """Write the bundle and return its manifest.

    The folder may hold an interrupted export, which is continued, or a bundle, which is replaced. Raises `InputError`
    if it holds anything else, which stays as it is, `HostError`, and `TransferStoppedError`.
    """
    _refuse_own_data(export)
    try:
        output_folder.prepare_folder(export.folder, export.base)
        export = replace(export, images=write_images(export))
        for part in parts:
            if export.stop.is_set():
                raise TransferStoppedError(STOPPED)
            part(export)
        return output_folder.complete(export)
    except requests.exceptions.RequestException as error:
        if not is_lost(error):
            raise
        raise HostError(
            f"the engine was lost while the bundle was written: {error}; start it again, and run the command again"
        ) from error
    except OSError as error:
        raise HostError(
            f"{error.filename or export.folder}: cannot be written: {error.strerror}; {remedy(error, '-o')}"
        ) from error


def _refuse_own_data(export: Export) -> None:
    """Raise `InputError` if a dataset lies in the folder, which is written anew."""
    for name, place in export.data:
        if place.resolve().is_relative_to(export.folder.resolve()):
            raise InputError(f"--data {name}: {place} lies in the bundle that is written; choose another -o")
