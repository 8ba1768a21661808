"""The needs of a GPU build, held against the driver and the GPUs of a host."""

from collections.abc import Sequence

from orchestrator.devices.gpus import Gpu
from orchestrator.domain import CudaNeeds


def unmet(needs: CudaNeeds | None, gpus: Sequence[Gpu], driver: str | None) -> str:
    """Return which need is not met, in one line, or an empty text. What a host does not tell is no hindrance."""
    if needs is None or not gpus:
        return ""
    if driver and _parts(driver) < _parts(needs.driver):
        return f"CUDA {needs.version} needs driver {needs.driver} or newer; this host has {driver}"
    for gpu in gpus:
        if gpu.compute_capability and needs.capabilities:
            own, (oldest, *newest) = _parts(gpu.compute_capability), needs.capabilities
            if own < _parts(oldest) or any(own > _parts(most) for most in newest):
                known = f"from {oldest} to {newest[0]}" if newest else f"from {oldest} on"
                return (
                    f"its build with CUDA {needs.version} has code for compute capabilities {known};"
                    f" {gpu.name} has {gpu.compute_capability}"
                )
    return ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
