"""Operators of PyTorch, called eagerly and without TF32."""

import torch

from benchmarks import operators
from benchmarks.frameworks.torch import OPTIONS  # noqa: F401 -- OPTIONS is of the interface
from benchmarks.native import torch as native


def start(settings):
    """Return a session on the device that is asked for."""
    return _Session(settings)


class _Session:
    _in_use = None

    def __init__(self, settings):
        operators.require(settings, "precision", "fp32")
        operators.require(settings, "layout", "auto")
        operators.require(settings, "compile", False)
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self._gpu = operators.one_device(settings)
        self._device = torch.device("cuda:0" if self._gpu else "cpu")
        if hasattr(torch.backends.cuda, "matmul"):
            torch.backends.cuda.matmul.allow_tf32 = False
        self._functions = _functions(self._device)

    def call(self, name):
        """Return the function of an operator."""
        return operators.of(self._functions, name, "PyTorch")

    def placed(self, array):
        """Copy an array into memory of PyTorch, on the device."""
        return torch.tensor(array, device=self._device)

    def synchronise(self, _handle):
        """Wait for the GPU. On a CPU every operator is synchronous."""
        if self._gpu:
            torch.cuda.synchronize()

    @staticmethod
    def fetch(handle):
        """Copy the output to the host."""
        return handle.cpu().numpy()

    def device_in_use(self):
        """Return the device of a tensor that is computed where the operators are."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = native.computed_on(self._device)
        return self._in_use

    def facts(self):
        """Return the facts that PyTorch reports."""
        return {
            "framework_version": torch.__version__,
            "precision": "float32",
            "threads": torch.get_num_threads(),
            "device": self.device_in_use(),
            "execution": "eager",
        }

    def peak_device_bytes(self):
        """Return the highest sum of the tensors on the GPU, in bytes."""
        return torch.cuda.max_memory_allocated() if self._gpu else None


def _functions(device):
    functional = torch.nn.functional

    def tensor(values):
        return torch.tensor(values, dtype=torch.float32, device=device)

    return {
        "tensor_from_numpy": tensor,
        "tensor_from_list": tensor,
        "sigmoid": torch.sigmoid,
        "relu": torch.relu,
        "tanh": torch.tanh,
        "softplus": functional.softplus,
        "softsign": functional.softsign,
        "dot": torch.dot,
        "gemm": torch.mm,
        "flatten": torch.flatten,
        "l2_normalize": lambda row: functional.normalize(row, dim=1),
        "broadcast_add": torch.add,
        "broadcast_multiply": torch.mul,
        "broadcast_maximum": torch.max,
    }
