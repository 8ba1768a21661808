"""The needs of a GPU build, held against the driver and the GPUs of a host."""

from collections.abc import Sequence

from orchestrator.devices.gpus import Gpu
from orchestrator.domain import CudaNeeds, ImageSpec


def lacking(image: ImageSpec, gpus: Sequence[Gpu], driver: str | None) -> str:
    """Return what GPUs or driver lack for an image, in one line, or an empty text.

    Nothing is known of a build whose packages a matrix pins, or that the index does not have, such as `2.11.0+cu128`.
    """
    is_known = not image.framework.packages and "+" not in image.framework.version
    return unmet(image.environment.cuda, gpus, driver) if is_known else ""


def unmet(needs: CudaNeeds | None, gpus: Sequence[Gpu], driver: str | None) -> str:
    """Return which need is not met, in one line, or an empty text. What a host does not tell is no hindrance."""
    if needs is None or not gpus:
        return ""
    if driver and _parts(driver) < _parts(needs.driver):
        return f"CUDA {needs.version} needs driver {needs.driver} or newer; this host has {driver}"
    other = next((gpu for gpu in gpus if not _has_code(needs, gpu)), None)
    if other is None:
        return ""
    oldest, *newest = needs.capabilities
    known = f"from {oldest} to {newest[0]}" if newest else f"from {oldest} on"
    return (
        f"its build with CUDA {needs.version} has code for compute capabilities {known};"
        f" {other.name} has {other.compute_capability}"
    )


def _has_code(needs: CudaNeeds, gpu: Gpu) -> bool:
    """Return true unless a GPU is older than the oldest that a build has code for, or of a later generation.

    Code for one capability runs on the later ones of the same major number.
    """
    if not gpu.compute_capability or not needs.capabilities:
        return True
    own, (oldest, *newest) = _parts(gpu.compute_capability), needs.capabilities
    return own >= _parts(oldest) and all(own[:1] <= _parts(most)[:1] for most in newest)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
