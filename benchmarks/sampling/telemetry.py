"""Facts about the process and its machine, read and never typed."""

import os
import platform
import re
import resource
import sys

from benchmarks import devices


def versions(folders):
    """Return the version of every distribution below these import folders, by normalised name.

    None of them is imported.
    """
    distributions = {}
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        for entry in sorted(os.listdir(folder)):
            name, version = _distribution(os.path.join(folder, entry))
            if name and version:
                distributions.setdefault(re.sub("[-_.]+", "-", name).lower(), version)
    return dict(sorted(distributions.items()))


def _distribution(path):
    """Return name and version from a distribution's metadata, or None and None for any other `path`."""
    for suffix, metadata in ((".dist-info", "METADATA"), (".egg-info", "PKG-INFO"), (".egg-info", "")):
        file = os.path.join(path, metadata) if metadata else path
        if path.endswith(suffix) and os.path.isfile(file):
            with open(file, encoding="utf-8", errors="replace") as lines:
                head = lines.read(65536).split("\n\n")[0]
            fields = (re.search(r"^%s:\s*(\S+)" % field, head, re.MULTILINE) for field in ("Name", "Version"))
            return tuple(field and field.group(1) for field in fields)
    return None, None


def python_version():
    """Return the interpreter's version, such as `3.11.7`."""
    return platform.python_version()


def peak_rss_bytes():
    """Return the highest resident memory of this process since it began to run this program."""
    peak = _status("VmHWM")
    if peak:
        return int(peak.split()[0]) * 1024
    # Only without /proc, because this figure may hold what the parent used before it started us.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def used():
    """Return what this process has used since it began.

    These are CPU seconds in user code and in the kernel, and bytes of storage. Bytes are None if the kernel does not
    count them. Data that came from a cache in memory is in neither.
    """
    times = resource.getrusage(resource.RUSAGE_SELF)
    read, written = (_field("/proc/self/io", name) for name in ("read_bytes", "write_bytes"))
    return {
        "user_s": times.ru_utime,
        "system_s": times.ru_stime,
        "read_bytes": None if read is None else int(read),
        "written_bytes": None if written is None else int(written),
    }


def machine():
    """Return CPU model, logical CPUs, the CPUs this process may use, kernel and frequency governor."""
    return {
        "cpu": {
            "model": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
            "logical": os.cpu_count(),
            "affinity": sorted(os.sched_getaffinity(0)),
            "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        },
        "kernel": platform.release(),
        "native_threads": int(_status("Threads") or 0),
    }


def gpus():
    """Return UUID, name, driver and memory of the GPUs that this process was given, or nothing without NVML.

    What a GPU does not tell is left out: some share the memory of the host, and have no size of their own.
    """
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        # Neither the package nor a driver is required: a host without GPUs has no such facts.
        return []
    return [_gpu(pynvml, handle) for handle in devices.handles(pynvml)]


def _gpu(library, handle):
    memory = devices.answer(library.nvmlDeviceGetMemoryInfo, handle)
    known = {
        "uuid": _decoded(devices.answer(library.nvmlDeviceGetUUID, handle)),
        "name": _decoded(devices.answer(library.nvmlDeviceGetName, handle)),
        "driver": _decoded(devices.answer(library.nvmlSystemGetDriverVersion)),
        "memory_bytes": None if memory is None else int(memory.total),
    }
    return {name: value for name, value in known.items() if value is not None}


def cudnn(maps="/proc/self/maps", exported=None):
    """Return the version of the cuDNN that this process has loaded, such as 8101 for 8.1.1, or None.

    The installed distributions do not say it, because it also comes with an image. A framework may hold it inside a
    library of its own, so that all loaded ones are asked, those of its name first.
    """
    for path in sorted(_loaded_libraries(maps), key=lambda each: "libcudnn" not in os.path.basename(each)):
        version = (exported or _exported)(path, "cudnnGetVersion")
        if version is not None:
            return version()
    return None


def _loaded_libraries(maps):
    """Return the paths of the shared libraries in a map of a process's memory, in their order."""
    try:
        with open(maps, encoding="utf-8", errors="replace") as lines:
            fields = [line.split(None, 5) for line in lines]
    except OSError:
        return []
    paths = dict.fromkeys(each[5].strip() for each in fields if len(each) == 6)
    return [path for path in paths if ".so" in os.path.basename(path)]


def _exported(path, name):
    """Return a function without arguments of a library that is loaded already, or None if it exports none."""
    # Imported here, because only a process with a GPU needs it.
    import ctypes

    try:
        function = getattr(ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY), name)
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_size_t
    return function


def _decoded(text):
    return text.decode() if isinstance(text, bytes) else text


def _status(key):
    return _field("/proc/self/status", key)


def _field(path, key):
    """Return the value of a key on its first line in a file, or None if it has none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, colon, value = line.partition(":")
                if colon and name.strip() == key:
                    return value.strip()
    except OSError:
        return None
    return None


def _first_line(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip() or None
    except OSError:
        return None
