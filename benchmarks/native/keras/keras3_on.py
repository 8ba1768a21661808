"""The backends under Keras 3, with the threads of each, and how each is waited for."""

import importlib
import os

TITLES = {"jax": "JAX", "tensorflow": "TensorFlow", "torch": "PyTorch"}


def prepare(name, threads, gpu):
    """Set the threads of a backend (its own choice without them), without TF32. Returns the device it computes on."""
    return {"jax": _prepare_jax, "tensorflow": _prepare_tensorflow, "torch": _prepare_torch}[name](threads, gpu)


def _prepare_jax(threads, gpu):
    """Change the settings that must be in place before JAX starts its backend."""
    import jax

    jax.config.update("jax_platforms", "cuda" if gpu else "cpu")
    jax.config.update("jax_default_matmul_precision", "highest")
    if threads:
        # XLA's client for CPUs has no other setting; without it there is one thread for each CPU of the process.
        os.environ["NPROC"] = str(threads)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return str(next(iter((jax.numpy.zeros(1) + 1).devices()))) if gpu else "cpu"


def _prepare_tensorflow(threads, gpu):
    import tensorflow as tf

    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    if not gpu:
        tf.config.set_visible_devices([], "GPU")
        return "/CPU:0"
    from benchmarks.native import tensorflow as native

    return native.computed_on("/GPU:0")


def _prepare_torch(threads, gpu):
    import torch

    if threads:
        torch.set_num_threads(threads)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    from benchmarks.native import torch as native

    return native.computed_on("cuda:0") if gpu else "cpu"


def synchronise(name, variables, gpu):
    """Wait until a backend has computed all that was issued, and thereby the values of these variables."""
    if name == "jax":
        import jax

        jax.block_until_ready([variable.value for variable in variables])
    elif gpu:
        # A copy from the GPU waits for all that was issued before.
        importlib.import_module("keras").ops.convert_to_numpy(variables[-1])


def version(name):
    """Return the version that a backend reports."""
    return importlib.import_module(name).__version__


def threads(name):
    """Return the threads that a backend reports."""
    module = importlib.import_module(name)
    if name == "tensorflow":
        return module.config.threading.get_intra_op_parallelism_threads() or None
    return module.get_num_threads() if name == "torch" else _threads_of_xla()


def _threads_of_xla():
    """Count the threads of XLA's pool for single operations by their name. Returns None if there are none."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % thread, encoding="ascii") as file:
            count += file.read().strip() == "tf_XLAEigen"
    return count or None
