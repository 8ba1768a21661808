"""Questions to drivers of other ages, and to one that has lost a GPU, by stubs of their library."""

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from orchestrator.devices.driver import computing, first_form, handle_of

FORMS = tuple(f"nvmlDeviceGetComputeRunningProcesses_v{form}" for form in (3, 2))


def fails(error: int) -> Any:
    def failing(*_: object) -> None:
        raise pynvml.NVMLError(error)

    return failing


def library(**answers: Any) -> SimpleNamespace:
    return SimpleNamespace(**dict.fromkeys(FORMS, fails(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)) | answers)


@pytest.mark.parametrize("form", FORMS)
def test_older_drivers_list_processes_too(form: str) -> None:
    listing = {form: lambda _: [SimpleNamespace(pid=7)]}

    assert computing(library(**listing), "a GPU") == (7,)


def test_drivers_without_any_form_tell_no_processes() -> None:
    """This host has no such library at all. One that refuses the first form is not asked by another."""
    assert computing(library(), "a GPU") is None
    assert computing(library(**{FORMS[0]: fails(pynvml.NVML_ERROR_NOT_SUPPORTED), FORMS[1]: None}), "a GPU") is None


def test_a_lost_gpu_tells_that_it_is_lost() -> None:
    with pytest.raises(pynvml.NVMLError, match="lost"):
        computing(library(**{FORMS[0]: fails(pynvml.NVML_ERROR_GPU_IS_LOST)}), "a GPU")


def test_the_first_drivers_list_processes_in_their_form() -> None:
    def question(handle: str, number: Any, processes: Any) -> int:
        number._obj.value = 2
        processes[0].pid, processes[1].pid = 7, 8
        return int(pynvml.NVML_SUCCESS)

    loaded = SimpleNamespace(nvmlDeviceGetComputeRunningProcesses=question)

    assert [process.pid for process in first_form("a GPU", lambda name: loaded)] == [7, 8]
    loaded.nvmlDeviceGetComputeRunningProcesses = lambda *_: pynvml.NVML_ERROR_GPU_IS_LOST
    with pytest.raises(pynvml.NVMLError, match="lost"):
        first_form("a GPU", lambda name: loaded)


@pytest.mark.parametrize("error", [pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_UNKNOWN])
def test_a_lost_neighbour_hides_no_gpu(error: int) -> None:
    """A driver may fail every lookup by UUID then. Parts of a divided GPU are found too."""
    names = {1: "GPU-1", 2: b"GPU-2", "2/0": "MIG-0"}
    library = SimpleNamespace(
        nvmlDeviceGetHandleByUUID=fails(error),
        nvmlDeviceGetCount=lambda: 3,
        nvmlDeviceGetHandleByIndex=lambda index: index or fails(pynvml.NVML_ERROR_GPU_IS_LOST)(),
        nvmlDeviceGetUUID=lambda handle: names[handle],
        nvmlDeviceGetMaxMigDeviceCount=lambda handle: int(handle == 2),
        nvmlDeviceGetMigDeviceHandleByIndex=lambda handle, number: f"{handle}/{number}",
    )

    assert [handle_of(library, uuid) for uuid in ("GPU-1", "GPU-2", "MIG-0")] == [1, 2, "2/0"]
    with pytest.raises(pynvml.NVMLError):
        handle_of(library, "GPU-0")
