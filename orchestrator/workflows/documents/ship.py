"""The documents of bundles and files of results."""

from typing_extensions import TypedDict

from orchestrator.bundles.returns.collect import Collected
from orchestrator.bundles.returns.results_manifest import RunEntry
from orchestrator.documents import DocumentKind, Envelope
from orchestrator.planning.document.plan import script_documents
from orchestrator.planning.document.types import PlannedScript
from orchestrator.workflows.ship.export import ExportResult
from orchestrator.workflows.ship.load import LoadResult, VerifyResult
from orchestrator.workflows.ship.returns import MergeResult


class ExportedBundleData(TypedDict):
    """A bundle that was written."""

    bundle: str
    """The folder."""
    tar: str | None
    """The bundle as one file, if that was asked for."""
    name: str
    base: str | None
    """The bundle whose contents are left out."""
    images: list[str]
    files: int
    size_bytes: int


class VerifiedBundleData(TypedDict):
    """A bundle whose bytes are those of its manifest."""

    name: str
    manifest_sha256: str
    base: str | None
    images: list[str]
    files: int
    size_bytes: int


class LoadedBundleData(VerifiedBundleData):
    """A bundle whose images are on the engine."""

    loaded: list[str]
    """The images that were missing."""
    scripts: list[PlannedScript]


class CollectedRunsData(TypedDict):
    """A file of results that was written."""

    file: str
    size_bytes: int
    left_out: list[str]
    runs: list[RunEntry]


class MergedRunsData(TypedDict):
    """The runs of a file of results after a merge."""

    added: list[RunEntry]
    present: list[RunEntry]
    """Runs that were there already."""
    kept: list[str]
    """Folders with runs of interrupted merges."""


EXPORTED_BUNDLE = DocumentKind("exported-bundle", 1, ExportedBundleData)
VERIFIED_BUNDLE = DocumentKind("verified-bundle", 1, VerifiedBundleData)
LOADED_BUNDLE = DocumentKind("loaded-bundle", 1, LoadedBundleData)
COLLECTED_RUNS = DocumentKind("collected-runs", 1, CollectedRunsData)
MERGED_RUNS = DocumentKind("merged-runs", 1, MergedRunsData)


def export_document(result: ExportResult) -> Envelope:
    """Return a bundle that was written."""
    manifest = result.manifest
    data: ExportedBundleData = {
        "bundle": str(result.folder),
        "tar": str(result.archive) if result.archive else None,
        "name": manifest.name,
        "base": manifest.base.name if manifest.base else None,
        "images": [image.name for image in manifest.images],
        "files": len(manifest.files),
        "size_bytes": result.size_bytes,
    }
    return EXPORTED_BUNDLE.envelope(data)


def verify_document(result: VerifyResult) -> Envelope:
    """Return a bundle that was verified."""
    return VERIFIED_BUNDLE.envelope(_verified(result))


def load_document(result: LoadResult) -> Envelope:
    """Return a bundle that was loaded."""
    data: LoadedBundleData = {
        **_verified(result),
        "loaded": list(result.loaded),
        "scripts": script_documents(result.plan),
    }
    return LOADED_BUNDLE.envelope(data)


def _verified(result: VerifyResult) -> VerifiedBundleData:
    manifest = result.manifest
    return {
        "name": manifest.name,
        "manifest_sha256": result.manifest_sha256,
        "base": manifest.base.name if manifest.base else None,
        "images": [image.name for image in manifest.images],
        "files": len(manifest.files),
        "size_bytes": result.size_bytes,
    }


def collect_document(collected: Collected) -> Envelope:
    """Return a file of results that was written."""
    return COLLECTED_RUNS.envelope(
        {
            "file": str(collected.path),
            "size_bytes": collected.size_bytes,
            "left_out": list(collected.left_out),
            "runs": [run.model_dump(mode="json") for run in collected.manifest.runs],
        }
    )


def merge_document(result: MergeResult) -> Envelope:
    """Return the runs of a file after a merge."""
    return MERGED_RUNS.envelope(
        {
            "added": [run.model_dump(mode="json") for run in result.runs.added],
            "present": [run.model_dump(mode="json") for run in result.runs.present],
            "kept": list(map(str, result.interrupted)),
        }
    )
