"""Images of a few lines, built straight on the engine."""

import io
import tarfile
from collections.abc import Mapping

import docker
import impossible

from orchestrator.engine.abilities import EngineKind

NO_FILES: Mapping[str, bytes] = {}


def built(client: docker.DockerClient, dockerfile: str, label: str, files: Mapping[str, bytes] = NO_FILES) -> str:
    """Build a Dockerfile with these files beside it, under a label, and return the image's id."""
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for name, data in {"Dockerfile": dockerfile.encode(), **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    context.seek(0)
    image, _ = client.images.build(fileobj=context, custom_context=True, labels={label: "1"}, rm=True)
    return str(image.id)


def tells_no_layers() -> bool:
    """Return true if the engine of the tests does not say which layers a push sends."""
    engine = impossible.of_this_host()
    return engine is not None and engine.kind is EngineKind.PODMAN
