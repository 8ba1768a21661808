"""Facts about the process and its machine, read and never typed."""

import os
import platform
import re
import resource
import sys


def versions(folders):
    """Every distribution below these import folders: normalised name to version, without importing any of them."""
    found = {}
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        for entry in sorted(os.listdir(folder)):
            name, version = _distribution(os.path.join(folder, entry))
            if name and version:
                found.setdefault(re.sub("[-_.]+", "-", name).lower(), version)
    return dict(sorted(found.items()))


def _distribution(path):
    """Name and version from a distribution's metadata; None and None where `path` is something else."""
    for suffix, metadata in ((".dist-info", "METADATA"), (".egg-info", "PKG-INFO"), (".egg-info", "")):
        file = os.path.join(path, metadata) if metadata else path
        if path.endswith(suffix) and os.path.isfile(file):
            with open(file, encoding="utf-8", errors="replace") as lines:
                head = lines.read(65536).split("\n\n")[0]
            fields = (re.search(r"^%s:\s*(\S+)" % field, head, re.MULTILINE) for field in ("Name", "Version"))
            return tuple(field and field.group(1) for field in fields)
    return None, None


def python_version():
    """The interpreter's version, such as `3.11.7`."""
    return platform.python_version()


def peak_rss_bytes():
    """Highest resident memory of this process since it began to run this program."""
    peak = _status("VmHWM")
    if peak:
        return int(peak.split()[0]) * 1024
    # Only where /proc is missing: this figure may hold what the parent used before it started us.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def used():
    """What this process has taken since it began: CPU seconds in user code and in the kernel, bytes of storage.

    Bytes are None where the kernel does not count them; what came from a cache in memory is in neither.
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
    """CPU model, logical CPUs, the CPUs this process may use, kernel and frequency governor."""
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
    """Name, driver and memory of the GPUs NVML sees; empty where it is not there."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        # Neither the package nor a driver is required: a host without GPUs has no such facts.
        return []
    driver = _decoded(pynvml.nvmlSystemGetDriverVersion())
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    return [
        {
            "name": _decoded(pynvml.nvmlDeviceGetName(handle)),
            "driver": driver,
            "memory_bytes": int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
        }
        for handle in handles
    ]


def _decoded(text):
    return text.decode() if isinstance(text, bytes) else text


def _status(key):
    return _field("/proc/self/status", key)


def _field(path, key):
    """The text behind `key:` on its first line in a file; None where it is not there."""
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
