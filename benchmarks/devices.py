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
    "NVIDIA driver on your system is too old",
    "busy or unavailable",
    "no kernel image is available",
    "No CUDA GPUs are available",
    "not compiled with CUDA enabled",
    "Unable to initialize backend 'cuda'",
    "Compile with USE_CUDA=1",
    "is not implemented for GPU",
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
    if uuids is None:
        return list(_wholes(library))
    answers = [answer(_handle, library, uuid) for uuid in uuids]
    return [handle for handle in answers if handle is not None]


def _handle(library, uuid):
    """Return the driver's handle of a GPU or of a part of one. Raises the driver's error if it does not show it.

    The driver may fail to look up a UUID while any GPU of the host is lost. So the GPUs that answer are looked through
    then.
    """
    try:
        return library.nvmlDeviceGetHandleByUUID(uuid.encode())  # as bytes, which every release of the library takes
    except Exception:
        for whole in _wholes(library):
            for handle in [whole] + _parts(library, whole):
                name = answer(library.nvmlDeviceGetUUID, handle)
                if name in (uuid, uuid.encode()):
                    return handle
        raise


def _wholes(library):
    """Yield the handles of all GPUs that answer."""
    for index in range(answer(library.nvmlDeviceGetCount) or 0):
        handle = answer(library.nvmlDeviceGetHandleByIndex, index)
        if handle is not None:
            yield handle


def _parts(library, whole):
    """Return the handles of the parts of a divided GPU (MIG), which old libraries do not know."""
    most = answer(lambda: library.nvmlDeviceGetMaxMigDeviceCount(whole)) or 0
    found = [answer(library.nvmlDeviceGetMigDeviceHandleByIndex, whole, number) for number in range(most)]
    return [handle for handle in found if handle is not None]


def answer(ask, *arguments):
    """Return the driver's answer, or None if this GPU or an old library has none."""
    try:
        return ask(*arguments)
    except Exception:
        # NVML's own errors and, of an old library, missing names: neither is a reason to lose a measurement.
        return None


def require_given(request):
    """Raise `NoUsableDevice` unless this process sees the GPUs that it was given, and no others, with the cause.

    CUDA is asked, as it obeys the variable, and the driver's library for the cause. Without a driver, the framework
    decides what it can do.
    """
    uuids = given() if request.gpus else None
    if uuids is None:
        return
    why = _driver_fault(uuids)
    if why:
        raise NoUsableDevice(why)
    wanted = sorted(_digits(uuid) for uuid in uuids)
    seen = _cuda_uuids() if all(len(digits) == 32 for digits in wanted) else None
    if seen is not None and sorted(seen) != wanted:
        message = "CUDA shows %d GPUs, and not just the %d that this process was given"
        raise NoUsableDevice(message % (len(seen), len(uuids)))


def _driver_fault(uuids):
    """Return what the driver's library says of a GPU that it does not show, or None if all is well or there is none."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except Exception as error:
        return "the GPU driver does not answer: %s" % error
    try:
        for uuid in uuids:
            try:
                _handle(pynvml, uuid)
            except Exception as error:
                return "the driver does not show %s, which this process was given: %s" % (uuid, error)
    finally:
        pynvml.nvmlShutdown()
    return None


def _cuda_uuids():
    """Return the digits of the UUIDs of all devices that CUDA shows this process, or None if it cannot be asked."""
    # Imported here, because only a process with a GPU needs it.
    import ctypes

    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        # The later one tells the UUID of a part of a divided GPU, and not that of the GPU.
        uuid_of = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid
    except (OSError, AttributeError):
        return None
    count, device, uuid = ctypes.c_int(), ctypes.c_int(), (ctypes.c_ubyte * 16)()
    error = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    if error:
        raise NoUsableDevice("CUDA does not start: its error is number %d" % error)
    seen = []
    for number in range(count.value):
        if cuda.cuDeviceGet(ctypes.byref(device), number) or uuid_of(ctypes.byref(uuid), device):
            return None
        seen.append(bytes(uuid).hex())
    return seen


def _digits(uuid):
    """Return the hexadecimal digits of a UUID such as `GPU-8932f937-…`. Drivers before 470 name parts otherwise."""
    return uuid.partition("-")[2].replace("-", "").lower()


def require_computing(request, session):
    """Raise `NoUsableDevice` if a session with GPUs computes elsewhere, by the devices of tensors that it computes.

    A session that trains on several must have a tensor on as many. One that computes nothing tells none.
    """
    if not request.gpus:
        return
    several = getattr(session, "devices_in_use", None)
    one = getattr(session, "device_in_use", None)
    names = several() if several else [one()] if one else []
    for name in names:
        if not any(kind in name.lower() for kind in ("gpu", "cuda")):
            raise NoUsableDevice("%s computes on %s, not on the GPU that it was given" % (request.builder, name))
    if several and len(set(names)) != request.gpus:
        message = "%s computes on %s, not on the %d GPUs that it was given"
        raise NoUsableDevice(message % (request.builder, ", ".join(names), request.gpus))


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
            raise NoUsableDevice("%s has no usable GPU: %s" % (request.builder, _telling_line(error))) from error
        raise


def _telling_line(error):
    """Return the line of an error that names the fault, which MXNet has below a stack of its own, or the first one."""
    lines = str(error).strip().split("\n")
    return next((line.strip() for line in lines if _has(_ABSENCE_SIGNS, [line])), lines[0])


def _has(signs, texts):
    """Return whether a text holds a sign.

    The message decides, because frameworks share no class for it, and old ones have none at all.
    """
    return any(sign in text for sign in signs for text in texts)
