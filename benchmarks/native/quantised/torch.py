"""PyTorch's own quantisation of a network, by its eager mode (dynamic) and its FX graph mode (static).

Kernels take activations of 7 bits, so that a CPU without VNNI does not overflow. That is PyTorch's default on x86.
"""

import copy

import torch

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.native import parts
from benchmarks.native import torch as native

try:
    from torch.ao import quantization
except ImportError:  # before 1.10
    from torch import quantization


class Recurrent(torch.nn.Module):
    """A plain `torch.nn.LSTM`, which PyTorch knows how to quantise, with the weights and the outputs of ours."""

    def __init__(self, ours):
        super().__init__()
        self.sequences = ours.sequences
        self.both = ours.bidirectional
        self.inner = torch.nn.LSTM(ours.input_size, ours.hidden_size, batch_first=True, bidirectional=self.both)
        self.inner.load_state_dict(ours.state_dict())

    def forward(self, inputs):
        """Map (batch, time, features) to (batch, time, outputs) or (batch, outputs)."""
        outputs, (hidden, _) = self.inner(inputs)
        if self.sequences:
            return outputs
        return torch.cat((hidden[0], hidden[1]), 1) if self.both else hidden[-1]


def quantised(network, workload, placed):
    """Return a network in quantised form, made of a copy. `placed` brings a batch to where the network computes.

    Raises `Unsupported` for what the release or the network does not allow.
    """
    kind = quantisation.asked(workload.options)
    quantisation.covered(workload)
    if workload.gpus:
        raise Unsupported("PyTorch has kernels of 8 bits for CPUs alone")
    if workload.options["precision"] != "fp32" or workload.options["compile"]:
        raise Unsupported("quantisation goes with precision: fp32 and compile: false alone")
    if any(each.kind == "sparse" for each in workload.inputs):
        raise Unsupported("sparse inputs are float32 alone; set quantisation: none")
    network = copy.deepcopy(network).eval()
    return _dynamic(network) if kind == quantisation.DYNAMIC else _static(network, workload, placed)


def engine():
    """Return the name of the library whose kernels PyTorch takes."""
    return str(torch.backends.quantized.engine)


def _dynamic(network):
    _replace_recurrent(network)
    return quantization.quantize_dynamic(network, {torch.nn.Linear, torch.nn.LSTM}, dtype=torch.qint8)


def _replace_recurrent(module):
    for name, child in list(module.named_children()):
        if isinstance(child, native.TorchLstm):
            setattr(module, name, Recurrent(child))
        else:
            _replace_recurrent(child)


def _static(network, workload, placed):
    """Quantise what FX traces. The ranges are the least and the largest values of the calibration batches."""
    if any(layer.kind == "time_distributed" for layer in workload.layers):
        raise Unsupported("PyTorch's graph mode does not trace time-distributed layers")
    try:
        from torch.ao.quantization import quantize_fx
        from torch.ao.quantization.fx.custom_config import PrepareCustomConfig
    except ImportError:
        needed = "static quantisation by graphs needs PyTorch 1.13 or newer; here is %s"
        raise Unsupported(needed % torch.__version__) from None
    untraced = [native.TorchLstm, native.TorchGru, native.TorchRepeat]
    settings = PrepareCustomConfig().set_non_traceable_module_classes(untraced)
    batches = [placed(inputs) for inputs in quantisation.calibration(workload)]
    mapping = quantization.QConfigMapping().set_global(_observers())
    prepared = quantize_fx.prepare_fx(network, mapping, parts(batches[0]), prepare_custom_config=settings)
    with torch.no_grad():
        for inputs in batches:
            prepared(*parts(inputs))
    return quantize_fx.convert_fx(prepared)


def _observers():
    activations = quantization.MinMaxObserver.with_args(dtype=torch.quint8, reduce_range=True)
    return quantization.QConfig(activation=activations, weight=quantization.default_per_channel_weight_observer)
