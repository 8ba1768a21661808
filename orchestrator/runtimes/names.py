"""What an image is called elsewhere, and where it can be had at all."""

import re

from orchestrator.domain import ImageSpec


def log_name(image: str) -> str:
    """`bench/mxnet:1.9.1-cpu` → `bench-mxnet-1.9.1-cpu.log`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", image) + ".log"


def only_in_containers(image: ImageSpec) -> str | None:
    """Why no other runtime than `docker` can serve an image: it is the user's own; None where others can."""
    own = image.framework.image or image.framework.dockerfile
    return f"{own} is the user's own image: only --runtime docker can run it" if own else None
