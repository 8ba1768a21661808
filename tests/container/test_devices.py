"""The GPUs a process was given, by a stub of the driver's library, and errors as frameworks word them."""

import sys
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
from container_support import request_of
from stubbed_driver import StubbedDriver

from benchmarks import devices, process
from benchmarks.errors import DeviceOutOfMemory, NoUsableDevice
from benchmarks.sampling import telemetry
from benchmarks.sampling.gpus import Gpus

ON_GPU = request_of(gpus=1, builder="tensorflow", batch_size=64)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> StubbedDriver:
    """A driver with three GPUs, of which the process was given the second one."""
    stub = StubbedDriver(gpus=3)
    monkeypatch.setitem(sys.modules, "pynvml", stub)
    monkeypatch.setenv(devices.GIVEN, "GPU-1")
    return stub


def test_only_the_given_gpu_is_watched(driver: StubbedDriver) -> None:
    """Energy of neighbours is not added, since NVML shows them whatever the variable says."""
    gpus = Gpus(driver)
    gpus.begin()

    assert len(gpus.end()) == 1
    assert [gpu["uuid"] for gpu in telemetry.gpus()] == ["GPU-1"]


@pytest.mark.parametrize("hides_all_for_one", [False, True])
def test_a_lost_neighbour_costs_nothing(driver: StubbedDriver, hides_all_for_one: bool) -> None:
    driver.lost.add(0)
    driver.hides_all_for_one = hides_all_for_one

    devices.require_given(ON_GPU)
    assert [gpu["uuid"] for gpu in telemetry.gpus()] == ["GPU-1"]


def test_all_that_answer_are_watched_by_hand(driver: StubbedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without UUIDs in the variable, as by hand, every GPU that answers is meant."""
    driver.lost.add(0)
    monkeypatch.setenv(devices.GIVEN, "0,1")

    assert [gpu["uuid"] for gpu in telemetry.gpus()] == ["GPU-1", "GPU-2"]


def test_a_size_that_is_not_told_is_left_out(driver: StubbedDriver) -> None:
    """A GPU that shares the host's memory has no size of its own, and stays usable."""
    driver.refused.add("nvmlDeviceGetMemoryInfo")

    assert telemetry.gpus() == [{"uuid": "GPU-1", "name": "Stubbed GPU", "driver": "570.1"}]


def test_a_given_gpu_that_is_lost_is_no_device(driver: StubbedDriver) -> None:
    driver.lost.add(1)

    with pytest.raises(
        NoUsableDevice, match=r"^the driver does not show GPU-1, which this process was given: GPU is lost$"
    ):
        devices.require_given(ON_GPU)


def test_a_driver_that_does_not_answer_is_no_device(driver: StubbedDriver) -> None:
    driver.init_error = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH

    with pytest.raises(NoUsableDevice, match=r"the GPU driver does not answer: .*[Mm]ismatch"):
        devices.require_given(ON_GPU)


def test_a_cpu_cell_asks_no_driver(driver: StubbedDriver) -> None:
    driver.lost.add(1)
    devices.require_given(request_of(gpus=0))

    assert not driver.asked


@pytest.mark.parametrize("name", ["/GPU:0", "cuda:0", "gpu(0)", "cuda:1", "CudaDevice(id=0)"])
def test_a_gpu_is_known_by_its_name(name: str) -> None:
    asked = []
    devices.require_computing(ON_GPU, SimpleNamespace(device_in_use=lambda: asked.append(name) or name))

    assert asked == [name]


@pytest.mark.parametrize("name", ["/CPU:0", "cpu", "cpu(0)", "TFRT_CPU_0"])
def test_computing_on_the_cpu_is_no_device(name: str) -> None:
    """Without a usable GPU, TensorFlow computes on the CPU and says nothing."""
    with pytest.raises(NoUsableDevice, match=r"^tensorflow computes on .*, not on the GPU that it was given$"):
        devices.require_computing(ON_GPU, SimpleNamespace(device_in_use=lambda: name))
    devices.require_computing(request_of(gpus=0), SimpleNamespace(device_in_use=lambda: name))


@pytest.mark.parametrize("names", [["cuda:0", "cpu"], ["cuda:0", "cuda:0"], ["cuda:0"], ["cuda:0", "cuda:1", "cuda:2"]])
def test_every_gpu_of_several_must_compute(names: list[str]) -> None:
    """One on the CPU, two of one name, and a wrong number are no devices."""
    two = request_of(gpus=2, builder="torch", batch_size=64)
    session = SimpleNamespace(devices_in_use=lambda: names, device_in_use=lambda: names[0])

    with pytest.raises(NoUsableDevice, match=r"^torch computes on .*, not on the (GPU|2 GPUs) that it was given$"):
        devices.require_computing(two, session)


def test_different_gpus_are_several() -> None:
    two = request_of(gpus=2, builder="torch", batch_size=64)
    devices.require_computing(two, SimpleNamespace(devices_in_use=lambda: ["cuda:0", "cuda:1"]))


def test_facts_that_cannot_be_read_are_missing() -> None:
    """A GPU that is lost after the last step takes no measurement with it. On a CPU, nothing excuses a mistake."""

    def lost() -> dict[str, Any]:
        raise RuntimeError("CUDA error: unspecified launch failure\nmore")

    session = SimpleNamespace(facts=lost)

    assert process.reported_facts(ON_GPU, session) == {"unread": "RuntimeError: CUDA error: unspecified launch failure"}
    with pytest.raises(RuntimeError, match="CUDA error"):
        process.reported_facts(request_of(gpus=0), session)


def test_session_that_computes_nothing_names_no_device() -> None:
    devices.require_computing(ON_GPU, SimpleNamespace())


MEMORY = (
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
    "RESOURCE_EXHAUSTED: Failed to allocate request for 16.00GiB (17179869184B) on device ordinal 0",
    "Failed to allocate request for 16.0GiB on device",
    "Dst tensor is not initialized.",
    "OOM when allocating tensor with shape[1024,4096]",
    "cudaMalloc failed: out of memory",
    "CUDNN_STATUS_ALLOC_FAILED",
)
ABSENCE = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
    "Torch not compiled with CUDA enabled",
    "Unable to initialize backend 'cuda': no supported devices found",
    "Check failed: e == cudaSuccess: CUDA: CUDA driver version is insufficient for CUDA runtime version",
    "Check failed: Compile with USE_CUDA=1 to enable GPU usage",
)


def raised(message: str, **changes: Any) -> Exception:
    with pytest.raises(Exception) as caught, devices.errors_of(ON_GPU._replace(**changes)):  # noqa: PT011
        raise RuntimeError(message)
    return caught.value


@pytest.mark.parametrize("message", MEMORY)
def test_full_memory_is_told_by_any_framework(message: str) -> None:
    """PyTorch, JAX, TensorFlow, MXNet and cuDNN word it differently."""
    assert str(raised(message)) == "the device ran out of memory at batch size 64"
    assert isinstance(raised(message), DeviceOutOfMemory)
    assert isinstance(raised(message, gpus=0), RuntimeError)


@pytest.mark.parametrize("message", ABSENCE)
def test_a_missing_gpu_is_told_by_any_framework(message: str) -> None:
    assert str(raised(message)) == f"tensorflow has no usable GPU: {message}"
    assert isinstance(raised(message), NoUsableDevice)
    assert isinstance(raised(message, gpus=0), RuntimeError)


GIVEN, SEEN = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "8932f937d72c4106c12f20bd9faed9f6"


@pytest.mark.parametrize(
    ("seen", "fine"),
    [
        (["8932f937d72c4106c12f20bd9faed9f6"], True),
        ([], False),
        (["8932f937d72c4106c12f20bd9faed9f6", "0" * 32], False),
    ],
)
def test_cuda_must_show_just_the_given_gpus(monkeypatch: pytest.MonkeyPatch, seen: list[str], fine: bool) -> None:
    """Without a driver's library to ask, CUDA alone tells."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv(devices.GIVEN, GIVEN)
    monkeypatch.setattr(devices, "_cuda_uuids", lambda: seen)
    if fine:
        devices.require_given(ON_GPU)
    else:
        with pytest.raises(NoUsableDevice, match=f"CUDA shows {len(seen)} GPUs, and not just the 1 that"):
            devices.require_given(ON_GPU)
