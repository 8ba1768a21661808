"""Other names of an image, and the runtimes that can serve it."""

import re

from orchestrator.domain import ImageSpec


def log_name(image: str) -> str:
    """Return the name of an image's log, such as `bench-mxnet-1.9.1-cpu.log` for `bench/mxnet:1.9.1-cpu`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", image) + ".log"


def only_in_containers(image: ImageSpec) -> str | None:
    """Return the reason only `docker` can serve an image, or None if others can."""
    own = image.framework.image or image.framework.dockerfile
    return f"{own} is the user's own image: only --runtime docker can run it" if own else None
