"""The settings by which a process uses its GPUs: autotuning, allocator, and the cache of compiled kernels."""

import re

CUDA_CACHE = "~/.nv/ComputeCache"
"""The place where the driver keeps compiled kernels unless a variable names another."""
PREFIXES = (
    "CUDA_CACHE_",
    "JAX_",
    "MXNET_CUDNN_",
    "MXNET_GPU_MEM_POOL_",
    "PYTORCH_",
    "TF_CUDNN_",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_USE_CUDNN_",
    "TORCHINDUCTOR_",
    "TORCH_CUDNN_",
    "TRITON_",
    "XLA_",
)
"""Beginnings of the names of variables that decide on these settings."""


BY_LIBRARY = {
    "jax": {
        "autotuning": ("XLA_FLAGS", r"--xla_gpu_autotune_level=(\S+)", "4"),
        "allocator": ("XLA_PYTHON_CLIENT_ALLOCATOR", None, "bfc"),
        "jit_cache": ("JAX_COMPILATION_CACHE_DIR", None, "off"),
    },
    "mxnet": {
        "autotuning": ("MXNET_CUDNN_AUTOTUNE_DEFAULT", None, "1"),
        "allocator": ("MXNET_GPU_MEM_POOL_TYPE", None, "Naive"),
    },
    "tensorflow": {
        "autotuning": ("TF_CUDNN_USE_AUTOTUNE", None, "1"),
        "allocator": ("TF_GPU_ALLOCATOR", None, "bfc"),
    },
    "torch": {"jit_cache": ("TORCHINDUCTOR_CACHE_DIR", None, "/tmp/torchinductor_USER")},
}
"""Settings that libraries of frameworks take from variables, by the name of their module.

Each setting has its variable, the pattern of its value inside that, and the default that the library documents.
"""


def facts(variables, modules):
    """Return the cache that the driver has, the variables that are set, and the settings of the libraries loaded.

    They are read at the end, so that variables which a framework's builder has set are among them. A default of a
    library is marked as such.
    """
    cache = "off" if variables.get("CUDA_CACHE_DISABLE") == "1" else variables.get("CUDA_CACHE_PATH") or CUDA_CACHE
    names = sorted(name for name in variables if name.startswith(PREFIXES))
    settings = {name: _settings(BY_LIBRARY[name], variables) for name in sorted(BY_LIBRARY) if name in modules}
    return dict(settings, kernel_cache=cache, variables={name: variables[name] for name in names})


def _settings(asked, variables):
    return {name: _setting(variables.get(variable, ""), *rest) for name, (variable, *rest) in sorted(asked.items())}


def _setting(text, pattern, default):
    found = re.findall(pattern, text) if pattern else [text]
    return found[-1] if found and found[-1] else "%s (default)" % default
