"""A fake of the GPU driver's library, for tests alone, with the GPUs that `state.json` beside this file names.

All that has no answer here is not supported, as on a driver that does not tell. Numbers and errors are those of the
real module, which this one hides.
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import fake_gpus

_HERE = Path(__file__).parent


def _real() -> ModuleType:
    """Load the module that this one hides."""
    paths = (Path(folder or ".") / "pynvml.py" for folder in sys.path)
    path = next(path for path in paths if path.exists() and path.parent.resolve() != _HERE.resolve())
    spec = importlib.util.spec_from_file_location("real_pynvml", path)
    assert spec
    assert spec.loader
    module = sys.modules["real_pynvml"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


real = _real()


def _gpu(handle: int) -> dict[str, Any]:
    gpu: dict[str, Any] = fake_gpus.state()["gpus"][handle]
    if gpu.get("lost"):
        raise real.NVMLError(real.NVML_ERROR_GPU_IS_LOST)
    return gpu


def _init() -> None:
    if fake_gpus.state().get("mismatch"):
        raise real.NVMLError(real.NVML_ERROR_LIB_RM_VERSION_MISMATCH)


def _by_index(index: int) -> int:
    _gpu(index)
    return index


def _by_uuid(uuid: str | bytes) -> int:
    wanted = uuid.decode() if isinstance(uuid, bytes) else uuid
    if any(gpu.get("lost") for gpu in fake_gpus.state()["gpus"]):  # as the real one may do for any of them
        raise real.NVMLError(real.NVML_ERROR_GPU_IS_LOST)
    for handle, gpu in enumerate(fake_gpus.state()["gpus"]):
        if gpu["uuid"] == wanted:
            return _by_index(handle)
    raise real.NVMLError(real.NVML_ERROR_NOT_FOUND)


def _throttle_reasons(handle: int) -> int:
    return int(real.nvmlClocksThrottleReasonHwThermalSlowdown) if _gpu(handle).get("hot") else 0


_ANSWERS: dict[str, Any] = {
    "nvmlInit": _init,
    "nvmlShutdown": lambda: None,
    "nvmlSystemGetDriverVersion": lambda: fake_gpus.state()["driver"],
    "nvmlDeviceGetCount": lambda: len(fake_gpus.state()["gpus"]),
    "nvmlDeviceGetHandleByIndex": _by_index,
    "nvmlDeviceGetHandleByUUID": _by_uuid,
    "nvmlDeviceGetIndex": lambda handle: handle,
    "nvmlDeviceGetUUID": lambda handle: _gpu(handle)["uuid"],
    "nvmlDeviceGetName": lambda handle: _gpu(handle).get("name", "Fake GPU"),
    "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=_gpu(handle).get("memory_bytes", 2**34), used=0),
    "nvmlDeviceGetCudaComputeCapability": lambda handle: tuple(_gpu(handle).get("capability", (9, 0))),
    "nvmlDeviceGetComputeRunningProcesses_v3": lambda handle: [
        SimpleNamespace(pid=pid) for pid in _gpu(handle).get("processes", [])
    ],
    "nvmlDeviceGetCurrentClocksThrottleReasons": _throttle_reasons,
    "nvmlDeviceGetTemperature": lambda handle, _: _gpu(handle).get("temperature", 40),
    "nvmlDeviceGetTemperatureThreshold": lambda handle, _: _gpu(handle).get("slowdown", 95),
    "nvmlDeviceGetMigMode": lambda handle: [int(_gpu(handle).get("divided", False))] * 2,
    "nvmlDeviceGetMaxMigDeviceCount": lambda handle: 0,
}


def _unsupported(*arguments: object) -> None:
    raise real.NVMLError(real.NVML_ERROR_NOT_SUPPORTED)


def __getattr__(name: str) -> Any:
    """Give the answer of the fake host; numbers and classes are those of the real module."""
    if name in _ANSWERS:
        return _ANSWERS[name]
    value = getattr(real, name)
    return _unsupported if name.startswith("nvml") and callable(value) else value
