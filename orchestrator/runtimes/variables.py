"""The environment variables of a launch, which never come from the host."""

from pathlib import Path

from orchestrator.devices import Allocation
from orchestrator.domain import Environment, System

LIBRARY_PATH = "LD_LIBRARY_PATH"
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


def library_path(environment: Environment, python: Path, host: str | None) -> dict[str, str]:
    """Return the variable with the library folders of a virtual environment, before those of the host.

    `python` is the interpreter of the environment, `host` the value that the variable has on this host.
    """
    site_packages = python.parent.parent / "lib" / f"python{environment.python}" / "site-packages"
    folders = [str(site_packages / folder) for folder in environment.library_folders]
    return {LIBRARY_PATH: ":".join([*folders, *([host] if host else [])])} if folders else {}


def uuids(allocation: Allocation) -> str:
    """Name the allocated GPUs as CUDA takes them."""
    return ",".join(gpu.uuid for gpu in allocation.gpus)
