"""The package files that the layers of an image hold."""

from collections.abc import Sequence

from orchestrator.bundles.describe.layer_contents import LayerContents
from orchestrator.bundles.describe.layer_reader import CachingReader
from orchestrator.bundles.format.engine_archive import ArchiveError, read_archive
from orchestrator.bundles.format.streams import StoppableStream
from orchestrator.bundles.write.images import layer_cache
from orchestrator.bundles.write.request import Export
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError


def layer_contents(export: Export, reference: str, diff_ids: Sequence[str]) -> list[LayerContents]:
    """Return the contents of an image's layers, lowest first.

    The engine saves the image again if the cache lacks a layer. Raises `HostError` if it does not.
    """
    cache = layer_cache(export)
    if any(cache.get(diff_id) is None for diff_id in diff_ids):
        try:
            with transfer.saved(export.client, [reference]) as stream:
                stoppable = StoppableStream(stream, export.stop)
                read_archive(stoppable, CachingReader(cache))  # type: ignore[arg-type]  # only read() is needed
        except (TransferError, ArchiveError, *transfer.STREAM_ERRORS) as error:
            raise HostError(f"the engine did not save {reference}: {error}") from error
    contents = [content for diff_id in diff_ids if (content := cache.get(diff_id)) is not None]
    if len(contents) < len(diff_ids):
        raise HostError(f"what the layers of {reference} hold is not to be had from the cache; run the command again")
    return contents
