"""The GPUs that a process was given, and whether it computes on one.

`CUDA_VISIBLE_DEVICES` names them by UUID in every launch. The driver's library shows all GPUs of a host whatever that
variable says, and a framework without a usable GPU may compute on the CPU and say nothing.
"""

import os
from contextlib import contextmanager

from benchmarks.errors import DeviceOutOfMemory, NoUsableDevice

GIVEN = "CUDA_VISIBLE_DEVICES"
_MEMORY_SIGNS = (
    "out of memory",
    "Out of memory",
    "OOM when allocating",
    "ResourceExhausted",
    "RESOURCE_EXHAUSTED",
    "Failed to allocate request",
    "Dst tensor is not initialized",
    "cudaMalloc failed",
    "ALLOC_FAILED",
    "CUDA_ERROR_OUT_OF_MEMORY",
)
_ABSENCE_SIGNS = (
    "Found no NVIDIA driver",
    "No CUDA GPUs are available",
    "not compiled with CUDA enabled",
    "Unable to initialize backend 'cuda'",
    "Compile with USE_CUDA=1",
    "GPU is not enabled",
    "no CUDA-capable device",
    "driver version is insufficient",
    "unsupported display driver / cuda driver combination",
    "invalid device ordinal",
    "CUDA unknown error",
    "CUDA_ERROR_NO_DEVICE",
)


def given():
    """Return the UUIDs of the GPUs that this process was given, or None if it was given them in another way."""
    names = [name.strip() for name in os.environ.get(GIVEN, "").split(",") if name.strip()]
    return names if names and all(name.startswith(("GPU-", "MIG-")) for name in names) else None


def handles(library):
    """Return the driver's handles of the GPUs given, or of all that answer.

    A GPU that does not answer, such as a neighbour that fell off the bus, is left out.
    """
    uuids = given()
    if uuids is not None:
        # As bytes, which every release of the library takes.
        asked = [(library.nvmlDeviceGetHandleByUUID, uuid.encode()) for uuid in uuids]
    else:
        asked = [(library.nvmlDeviceGetHandleByIndex, index) for index in range(library.nvmlDeviceGetCount())]
    answers = [answer(ask, what) for ask, what in asked]
    return [handle for handle in answers if handle is not None]


def answer(ask, *arguments):
    """Return the driver's answer, or None if this GPU or an old library has none."""
    try:
        return ask(*arguments)
    except Exception:
        # NVML's own errors and, of an old library, missing names: neither is a reason to lose a measurement.
        return None


def require_given(request):
    """Raise `NoUsableDevice` if the driver does not show a GPU that this process was given.

    Without the driver's library, nothing is known here, and the framework decides.
    """
    uuids = given() if request.gpus else None
    if uuids is None:
        return
    try:
        import pynvml

        pynvml.nvmlInit()
    except ImportError:
        return
    except Exception as error:
        raise NoUsableDevice("the GPU driver does not answer: %s" % error) from None
    lost = [uuid for uuid in uuids if answer(pynvml.nvmlDeviceGetHandleByUUID, uuid.encode()) is None]
    pynvml.nvmlShutdown()
    if lost:
        raise NoUsableDevice("the driver does not show %s, which this process was given" % ", ".join(lost))


def require_computing(request, session):
    """Raise `NoUsableDevice` if a session with a GPU computes elsewhere, by the device of a tensor that it computes.

    The session of a user's own definition need not tell it.
    """
    asked = getattr(session, "device_in_use", None) if request.gpus else None
    name = asked() if asked else None
    if name is not None and not any(kind in name.lower() for kind in ("gpu", "cuda")):
        raise NoUsableDevice("%s computes on %s, not on the GPU that it was given" % (request.builder, name))


@contextmanager
def errors_of(request):
    """Raise `DeviceOutOfMemory` or `NoUsableDevice` in place of a framework's own error of a GPU."""
    try:
        yield
    except Exception as error:
        texts = ["%s: %s" % (type(each).__name__, each) for each in (error, error.__cause__)]
        if request.gpus and _has(_MEMORY_SIGNS, texts):
            message = "the device ran out of memory at batch size %d" % request.batch_size
            raise DeviceOutOfMemory(message) from error
        if request.gpus and not isinstance(error, NoUsableDevice) and _has(_ABSENCE_SIGNS, texts):
            raise NoUsableDevice(
                "%s has no usable GPU: %s" % (request.builder, str(error).strip().split("\n")[0])
            ) from error
        raise


def _has(signs, texts):
    """Return whether a text holds a sign.

    The message decides, because frameworks share no class for it, and old ones have none at all.
    """
    return any(sign in text for sign in signs for text in texts)
