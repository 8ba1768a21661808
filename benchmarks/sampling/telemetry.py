"""Facts about the process and its machine, read and never typed."""

import os
import platform
import re
import resource
import sys


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
    """Return name, driver and memory of the GPUs that NVML sees, or nothing without NVML."""
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
