"""The GPU driver of this host, asked through its library (NVML)."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pynvml

LOST = frozenset({pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED})
_LIBRARY = "libnvidia-ml.so.1"
_MOST_PROCESSES = 256


@dataclass(frozen=True, slots=True)
class Driver:
    """The library of the GPU driver, initialised, or why there is none."""

    library: Any = None
    fault: str = ""
    """The answer of a driver that is installed and does not work; empty without a driver."""


@contextmanager
def nvml() -> Iterator[Driver]:
    """Yield the driver's library, without one where no driver is installed or it does not work."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        is_absent = error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
        yield Driver(fault="" if is_absent else str(error))
        return
    try:
        yield Driver(pynvml)
    finally:
        pynvml.nvmlShutdown()


def asked(question: Callable[..., Any], *arguments: Any) -> Any:
    """Return the driver's answer, or None where it has none for this GPU. Raises `NVMLError` if the GPU is lost."""
    try:
        return question(*arguments)
    except pynvml.NVMLError as error:
        if error.value in LOST:
            raise
        return None


def text(value: str | bytes) -> str:
    """Return a text of the library, which is bytes in its older releases."""
    return value.decode() if isinstance(value, bytes) else value


def handle_of(library: Any, uuid: str) -> Any:
    """Return the handle of a GPU or of a part of one. Raises `NVMLError` if the driver does not show it.

    The driver may fail to look up a UUID while any GPU of the host is lost. So the GPUs that answer are looked through
    then.
    """
    try:
        return library.nvmlDeviceGetHandleByUUID(uuid.encode())
    except pynvml.NVMLError:
        for handle in _every_handle(library):
            with suppress(pynvml.NVMLError):
                if text(library.nvmlDeviceGetUUID(handle)) == uuid:
                    return handle
        raise


def parts(library: Any, handle: Any) -> Iterator[Any]:
    """Yield the handles of the parts of a divided GPU (MIG). Raises `NVMLError` if the GPU is lost."""
    for number in range(asked(library.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
        part = asked(library.nvmlDeviceGetMigDeviceHandleByIndex, handle, number)
        if part is not None:  # a place may have none
            yield part


def _every_handle(library: Any) -> Iterator[Any]:
    """Yield the handles of all GPUs that answer, and of their parts."""
    for index in range(asked(library.nvmlDeviceGetCount) or 0):
        with suppress(pynvml.NVMLError):
            handle = library.nvmlDeviceGetHandleByIndex(index)
            yield handle
            yield from parts(library, handle)


def computing(library: Any, handle: Any) -> tuple[int, ...] | None:
    """Return the ids of the processes that compute on a GPU, or None if the driver does not tell.

    Drivers before 510 lack the third form of this question, and still older ones the second one too.
    Raises `NVMLError` if the GPU is lost.
    """
    forms: tuple[Callable[..., Any], ...] = (
        library.nvmlDeviceGetComputeRunningProcesses_v3,
        library.nvmlDeviceGetComputeRunningProcesses_v2,
        first_form,
    )
    for form in forms:
        try:
            return tuple(process.pid for process in form(handle))
        except pynvml.NVMLError as error:
            if error.value in LOST:
                raise
            if error.value != pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:
                return None
    return None


class FirstProcess(ctypes.Structure):
    """A process as the first drivers describe it."""

    _fields_ = (("pid", ctypes.c_uint), ("used_bytes", ctypes.c_ulonglong))


def first_form(handle: Any, load: Callable[[str], Any] = ctypes.CDLL) -> list[FirstProcess]:
    """Return the processes on a GPU by the function that the first drivers had, which `pynvml` calls no more.

    Raises `NVMLError` if the driver does not answer.
    """
    processes, number = (FirstProcess * _MOST_PROCESSES)(), ctypes.c_uint(_MOST_PROCESSES)
    try:
        question = load(_LIBRARY).nvmlDeviceGetComputeRunningProcesses
    except (OSError, AttributeError):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND) from None
    if error := question(handle, ctypes.byref(number), processes):
        raise pynvml.NVMLError(error)
    return list(processes[: number.value])
