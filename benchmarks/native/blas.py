"""The OpenBLAS that NumPy brings along, which computes for frameworks without kernels of their own."""

import ctypes


def threads():
    """Return the threads of the OpenBLAS that this process has loaded, or None if it has loaded none."""
    for path in _loaded("openblas"):
        library = ctypes.CDLL(path)
        for suffix in ("", "64_"):
            if hasattr(library, "openblas_get_num_threads" + suffix):
                return int(getattr(library, "openblas_get_num_threads" + suffix)())
    return None


def _loaded(name):
    """Return the paths of the libraries with a name in this process, in order."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = {line.split(None, 5)[5].strip() for line in maps if name in line}
    except OSError:
        return []
    return sorted(paths)
