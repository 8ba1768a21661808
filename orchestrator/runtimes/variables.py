"""The environment variables of a launch, which never come from the host."""

from orchestrator.devices import Allocation
from orchestrator.domain import System

THREADS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def threads(allocation: Allocation) -> dict[str, str]:
    """Set the thread pools to the number of allocated CPUs, so that no framework goes by a default of its own."""
    return dict.fromkeys(THREADS, str(len(allocation.cpus)))


def in_container(system: System, allocation: Allocation) -> dict[str, str]:
    """Return the variables of a container.

    GPUs are named for the harness, which sees whether they came. A CPU system must see none, whatever the engine's
    default.
    """
    hidden = {} if system.gpus else {"NVIDIA_VISIBLE_DEVICES": "void"}
    return {**threads(allocation), **hidden, "CUDA_VISIBLE_DEVICES": uuids(allocation)}


def in_process(allocation: Allocation, *, path: str, home: str) -> dict[str, str]:
    """Return the variables of a process of this host, which sees only the allocated GPUs."""
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        **threads(allocation),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": uuids(allocation),
    }


def uuids(allocation: Allocation) -> str:
    """Name the allocated GPUs as CUDA takes them."""
    return ",".join(gpu.uuid for gpu in allocation.gpus)
