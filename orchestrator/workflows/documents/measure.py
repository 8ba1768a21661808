"""The documents of the commands that plan and build."""

from dataclasses import asdict
from typing import Literal

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.images import BuildFailure, Built
from orchestrator.matrix.studies.shapes import StudyFile
from orchestrator.runtimes import BundledImage
from orchestrator.workflows.build import BuildResult
from orchestrator.workflows.cluster.cancel import CancelResult
from orchestrator.workflows.cluster.render import RenderedJob, RenderResult


class BuiltImageData(TypedDict):
    """An image that is ready on the engine."""

    image: str
    ok: Literal[True]
    reference: str
    image_id: str
    base_digest: str
    cached: bool
    wall_s: float


class BundledImageData(TypedDict):
    """An image that came with a bundle."""

    image: str
    ok: Literal[True]
    reference: str
    image_id: str
    cached: Literal[True]


class FailedImageData(TypedDict):
    """An image that could not be built."""

    image: str
    ok: Literal[False]
    reason: str
    log: str | None


ImageData = BuiltImageData | BundledImageData | FailedImageData

LONG_MATRIX = DocumentKind("long-matrix", 1, StudyFile, mode="validation")
IMAGES = DocumentKind("images", 1, list[ImageData])
DOCKERFILES = DocumentKind("dockerfiles", 1, list[str])


def build_document(result: BuildResult, *, rendered: bool) -> Envelope:
    """Return the images after a build, or the Dockerfiles that were written in its place."""
    if rendered:
        return DOCKERFILES.envelope([str(path) for path in result.dockerfiles])
    return IMAGES.envelope([_image(each) for each in (*result.bundled, *result.images)])


def _image(end: Built | BuildFailure | BundledImage) -> ImageData:
    if isinstance(end, BuildFailure):
        return {"image": end.image, "ok": False, "reason": end.reason, "log": str(end.log) if end.log else None}
    if isinstance(end, BundledImage):
        return {
            "image": end.name, "ok": True, "reference": end.reference, "image_id": end.image_id, "cached": True
        }  # fmt: skip
    return {
        "image": end.image, "ok": True, "reference": end.reference, "image_id": end.image_id,
        "base_digest": end.base_digest, "cached": end.cached, "wall_s": end.wall_s,
    }  # fmt: skip


class CancelledRunData(TypedDict):
    """A run on a cluster whose jobs were cancelled."""

    run: str
    jobs: list[str]
    """Those that waited or ran, such as `12_3`."""
    resume: str
    """The command that goes on with it."""


CANCELLED_RUN = DocumentKind("cancelled-run", 1, CancelledRunData)


def cancelled_document(result: CancelResult) -> Envelope:
    """Return the cancelled jobs of a run for programs."""
    data: CancelledRunData = {
        "run": result.cluster.name, "jobs": list(result.jobs), "resume": result.resume_command,
    }  # fmt: skip
    return CANCELLED_RUN.envelope(data)


class KubernetesJobsData(TypedDict):
    """The Jobs of a run for Kubernetes."""

    run: str
    file: str | None
    """None if nothing is left to measure."""
    claim: str
    """The volume claim that must hold the folder of the run."""
    pythons: list[str]
    """Those that the image must have."""
    jobs: list[RenderedJob]
    resume: str
    """The command that writes the Jobs of what is left."""


KUBERNETES_JOBS = DocumentKind("kubernetes-jobs", 1, KubernetesJobsData)


def rendered_document(result: RenderResult) -> Envelope:
    """Return the Jobs that were written."""
    return KUBERNETES_JOBS.envelope({
        "run": result.cluster.name,
        "file": str(result.path) if result.path else None,
        "claim": result.claim,
        "pythons": list(result.pythons),
        "jobs": [asdict(each) for each in result.jobs],
        "resume": result.cluster.resume_command,
    })  # fmt: skip
