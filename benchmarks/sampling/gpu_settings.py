"""The settings by which a process uses its GPUs: autotuning, allocator, and the cache of compiled kernels."""

CUDA_CACHE = "~/.nv/ComputeCache"
"""The place where the driver keeps compiled kernels unless a variable names another."""
PREFIXES = (
    "CUDA_CACHE_",
    "MXNET_CUDNN_",
    "MXNET_GPU_MEM_POOL_",
    "PYTORCH_",
    "TF_CUDNN_",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_USE_CUDNN_",
    "TORCH_CUDNN_",
    "XLA_",
)
"""Beginnings of the names of variables that decide on these settings."""


def facts(variables):
    """Return the cache that the driver has, and the variables that are set, from those of a process.

    They are read at the end, so that those which a framework's builder has set are among them.
    """
    cache = "off" if variables.get("CUDA_CACHE_DISABLE") == "1" else variables.get("CUDA_CACHE_PATH") or CUDA_CACHE
    names = sorted(name for name in variables if name.startswith(PREFIXES))
    return {"kernel_cache": cache, "variables": {name: variables[name] for name in names}}
