"""PyTorch with `torch.nn` layers, eager unless the option `compile` says otherwise, without TF32 by default.

Shapes are channels first as always in PyTorch. `layout` says how the values lie in memory. By default that is the fast
layout: channels last on a CPU and in reduced precision, channels first for float32 on a GPU.
"""

import os
import shutil
import tempfile

import torch

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.inputs import feeds, sparse
from benchmarks.loaders.torch import TorchLoader
from benchmarks.native import (
    IN_FLOAT32,
    LAYOUTS,
    PRECISIONS,
    alike,
    one_of,
    operators,
    precision_fact,
    require_float32_rows,
)
from benchmarks.native import torch as native
from benchmarks.native.decoding import torch as torch_decoding
from benchmarks.native.steps import torch as torch_steps
from benchmarks.native.transformers import torch as torch_transformer
from benchmarks.parallel import processes
from benchmarks.parallel.torch import TorchReplica
from benchmarks.precision import TF32, require_tf32
from benchmarks.timing import generation
from benchmarks.vocabulary import features

FEEDS = ("fed", "loader")
SEVERAL_DEVICES = True
OPTIONS = {"compile": False, "layout": "auto", "precision": "fp32", "quantisation": "none"}
OFFERS = features.ALL - {"GRU without reset_after"}
OLDEST = (1, 3)


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    if _release() < OLDEST:
        raise Unsupported("this builder needs PyTorch %d.%d or newer; here is %s" % (OLDEST + (torch.__version__,)))
    if workload.training and workload.devices > 1:
        return processes.start(workload, replica)
    return _Session(workload)


def generator(workload):
    """Build the model with a cache of keys and values, and place its weights and prompts."""
    if workload.options["compile"]:
        raise Unsupported("generation by torch.compile is not built yet; compile: false is")
    if quantisation.asked(workload.options) != quantisation.NONE:
        raise Unsupported("generation with quantised layers is not built yet; quantisation: none is")
    return _Generator(workload)


def replica(share, number, folder):
    """Make the session of one of several devices, which all meet in a folder."""
    return _Session(share, TorchReplica(share, number, folder))


def _release():
    return tuple(int(part) for part in torch.__version__.split(".")[:2])


class _Session:
    short_blocks = False
    _in_use = None

    def __init__(self, workload, replica=None):
        torch.manual_seed(workload.seed)
        threads = replica.threads if replica else workload.threads
        if threads:
            torch.set_num_threads(threads)
        self._device = replica.device if replica else torch.device("cuda:0" if workload.one_device() else "cpu")
        self._precision = one_of(workload.options, "precision", PRECISIONS)
        _set_tf32(self._device, self._precision == TF32)
        torch.backends.cudnn.benchmark = self._device.type == "cuda"
        require_float32_rows(workload)
        self._channels_last = _channels_last(workload, self._device, self._precision)
        self._compiled = workload.options["compile"]
        self._layers, self._made = workload.layers, native.modules(workload.layers)
        self._several, self._zeros = len(workload.inputs) > 1, workload.zeros
        self._network = native.network(self._layers, self._made, [each.name for each in workload.inputs])
        native.set_weights(self._layers, self._made, workload.weights())
        self._place(workload.training)
        self.batches = feeds.batches(workload, self._placed, TorchLoader(self._moved, self._device.type == "cuda"))
        trained = [parameter for parameter in self._network.parameters() if parameter.requires_grad]
        self.parameters = sum(parameter.numel() for parameter in trained)
        self._optimizer = torch_steps.make_optimizer(trained, workload.optimizer) if workload.training else None
        self._inferring = self._computing(workload)
        network = replica.wrapped(self._network) if replica else self._inferring
        self.averaging = replica.averaging if replica else None
        forward = self._forward(_compile(network) if self._compiled else network)
        self.step = self._training_step(forward, workload) if workload.training else torch_steps.inference_step(forward)

    def _computing(self, workload):
        """Return the network that computes logits, which is another one than holds the weights if it is quantised."""
        self._quantised = {}
        if quantisation.asked(workload.options) == quantisation.NONE:
            return self._network
        from benchmarks.native.quantised import torch as quantised_torch  # which no other cell needs

        network = quantised_torch.quantised(self._network, workload, self._placed_inputs)
        self._quantised = quantisation.facts(workload, quantised_torch.engine())
        return network

    def _training_step(self, forward, workload):
        loss_of = torch_steps.make_loss(workload.loss, native.l2_terms(self._layers, self._made))
        schedule = torch_steps.make_schedule(self._optimizer, workload.optimizer)
        return torch_steps.training_step(forward, loss_of, self._optimizer, schedule)

    def _place(self, training):
        self._network.to(self._device).train(training)
        if self._precision == "bf16":
            self._network.to(torch.bfloat16)
        if self._channels_last:
            self._network.to(memory_format=torch.channels_last)

    def _placed(self, inputs, labels):
        """Copy a batch into memory that PyTorch itself allocates and aligns, laid out as the weights are."""
        kind = torch.long if labels.dtype.kind == "i" else torch.float32
        return self._placed_inputs(inputs), torch.tensor(labels, dtype=kind, device=self._device)

    def _moved(self, inputs, labels):
        """Bring a batch of tensors to the device, laid out as the weights are."""
        return self._laid(inputs.to(self._device, self._dtype())), labels.to(self._device, torch.long)

    def _placed_inputs(self, inputs):
        return alike(inputs, self._placed_input)

    def _placed_input(self, inputs):
        if isinstance(inputs, sparse.Rows):
            return native.sparse_rows(inputs, self._device)
        if inputs.dtype.kind == "i":
            return torch.tensor(inputs, dtype=torch.long, device=self._device)
        return self._laid(torch.tensor(inputs, dtype=self._dtype(), device=self._device))

    def _dtype(self):
        return torch.bfloat16 if self._precision == "bf16" else torch.float32

    def _laid(self, inputs):
        if self._channels_last and inputs.dim() == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        return inputs

    def _forward(self, network):
        """Return a function that makes float32 logits from inputs.

        In float32 it is the network itself, which costs nothing.
        """
        if self._several:
            network = _taking_all(network)
        if self._precision in IN_FLOAT32:
            return network
        if self._precision == "bf16":
            return lambda inputs: network(inputs).float()
        if not hasattr(torch, "autocast"):
            raise Unsupported("mixed precision in bfloat16 needs PyTorch 1.10 or newer")
        mixed = torch.autocast(self._device.type, dtype=torch.bfloat16)

        def forward(inputs):
            with mixed:
                return network(inputs).float()

        return forward

    def network(self):
        """Return what computes logits in inference, for PyTorch's exporter."""
        return self._network

    def synchronise(self, _handle):
        """Wait for the GPU. On a CPU every step is synchronous."""
        if self._device.type == "cuda":
            torch.cuda.synchronize()

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host, unless they are there already."""
        return handle.cpu().numpy()

    @staticmethod
    def loss(handle):
        """Return the mean over the batch."""
        return float(handle.item())

    def weights(self):
        """Return the current weights of the modules, in canonical layout."""
        return native.weights(self._layers, self._made)

    def native_layers(self):
        """Return the name, the output shape and the number of trained weights of every layer with a module."""
        return [
            (layer.name, tuple(output.shape[1:]), native.trainable(module))
            for layer, module, output in zip(self._layers, self._made, self._yielded())
            if module
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch in evaluation mode, never compiled."""
        with native.evaluating(self._inferring):
            return self._forward(self._inferring)(self._placed_inputs(inputs)).cpu().numpy()

    def product(self, left, right):
        """Return the product of two NumPy matrices, multiplied as the steps multiply."""
        left, right = (torch.tensor(each, dtype=self._dtype(), device=self._device) for each in (left, right))
        forward = self._forward(lambda each: each.matmul(right))
        return forward((left,) if self._several else left).cpu().numpy()

    def _yielded(self):
        """Return what each module yields for one sample of zeros."""
        zeros = self._placed_inputs(self._zeros())
        with native.evaluating(self._network), native.watching(self._made) as yielded:
            self._forward(self._network)(zeros)
        return yielded

    def device_in_use(self):
        """Return the device of a tensor that is computed as the steps are."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = native.computed_on(self._device)
        return self._in_use

    def facts(self):
        """Return the facts that PyTorch reports.

        Threads are those of the intra-op pool. The precision is that of a weight and of what its layer yields.
        """
        weighted = [output for layer, output in zip(self._layers, self._yielded()) if layer.parameters]
        dtypes = [next(self._network.parameters()).dtype, weighted[0].dtype]
        facts = {
            "framework_version": torch.__version__,
            "layout": "channels_last" if self._channels_last else "channels_first",
            "precision": precision_fact(*[str(dtype).replace("torch.", "") for dtype in dtypes]),
            "tf32": any(switch.allow_tf32 for switch in _tf32_switches()),
            "threads": torch.get_num_threads(),
            "device": self.device_in_use(),
            "execution": "torch.compile" if self._compiled else "eager",
            "optimizer_form": torch_steps.optimizer_form(self._optimizer),
            "libraries": [name for name in ("mkldnn", "mkl", "openmp") if _has_library(name)],
        }
        if self._device.type == "cuda":
            facts.update(autotuning=torch.backends.cudnn.benchmark, allocator=_allocator())
        facts.update(operators(self._layers, torch_transformer.OPERATORS))
        facts.update(self._quantised)
        return dict(facts, graph_breaks=_graph_breaks()) if self._compiled else facts

    def peak_device_bytes(self):
        """Return the highest sum of the tensors on the GPU, in bytes."""
        return torch.cuda.max_memory_allocated() if self._device.type == "cuda" else None

    def reset_peak_device_bytes(self):
        """Count that sum anew from the tensors that are there. Return whether this is done."""
        if self._device.type != "cuda":
            return False
        # The second name is that before PyTorch 1.4.
        names = ("reset_peak_memory_stats", "reset_max_memory_allocated")
        next(getattr(torch.cuda, name) for name in names if hasattr(torch.cuda, name))()
        return True


class _Generator(_Session):
    """A session whose batches are prompts, and whose steps choose tokens."""

    def __init__(self, workload):
        super().__init__(workload)
        self.batches = [inputs[:, : workload.generation.prompt].contiguous() for inputs, _ in self.batches]
        # The last token has no step after it.
        decoder = torch_decoding.TorchDecoder(self._layers, self._made, sum(workload.generation) - 1)
        self._decoder, self._next = decoder, self._forward(decoder)
        # Entered once, for as long as the session lives: for each token that takes 2 % of a small decoder's time.
        self._without_gradients = torch_steps.without_gradients()
        self._without_gradients.__enter__()

    def prefill(self, prompt):
        """Begin anew with a prompt, and return the step that chooses its first token."""
        self._decoder.begin()
        return self._chosen(prompt)

    def decode(self, step):
        """Return the step after one whose tokens were chosen."""
        return self._chosen(step.tokens[:, None])

    def _chosen(self, tokens):
        logits = self._next(tokens)
        return generation.Step(logits.argmax(dim=-1), logits)

    @staticmethod
    def tokens(step):
        """Copy the tokens of a step to the host."""
        return step.tokens.cpu().numpy()

    @staticmethod
    def logits(step):
        """Copy the logits of a step to the host."""
        return step.logits.cpu().numpy()


def _allocator():
    """Return the name of the allocator on GPUs, of which there was one before PyTorch 2.0."""
    return torch.cuda.get_allocator_backend() if hasattr(torch.cuda, "get_allocator_backend") else "native"


def _channels_last(workload, device, precision):
    layout = one_of(workload.options, "layout", LAYOUTS)
    # PyTorch 1.3 and 1.4 have the name, and lay out tensors alone by it.
    known = hasattr(torch, "channels_last") and _release() >= (1, 5)
    if layout == "channels_last" and not known:
        raise Unsupported("PyTorch before 1.5 knows one memory format for modules: channels_first")
    # Tensor cores take channels last; float32 on a GPU runs faster channels first.
    fast = known and (device.type == "cpu" or precision != "fp32")
    return fast if layout == "auto" else layout == "channels_last"


def _tf32_switches():
    """Return what has a switch for TF32, which is nothing before PyTorch 1.7: its CUDA knows no TF32."""
    owners = (getattr(torch.backends.cuda, "matmul", None), torch.backends.cudnn)
    return [owner for owner in owners if hasattr(owner, "allow_tf32")]


def _set_tf32(device, is_on):
    switches = _tf32_switches()
    if is_on:
        require_tf32(torch.cuda.get_device_capability(device) if device.type == "cuda" else None, bool(switches))
    for switch in switches:
        switch.allow_tf32 = is_on


def _has_library(name):
    """Return whether PyTorch was built with a library. It has no `backends.mkldnn` before 1.4."""
    library = getattr(torch.backends, name, None)
    return library.is_available() if library else bool(getattr(torch._C, "has_" + name, False))


def _compile(network):
    """Compile the network with Inductor, which writes C++ (Triton on a GPU) and calls a compiler for it."""
    if not hasattr(torch, "compile"):
        raise Unsupported("torch.compile needs PyTorch 2.0 or newer; here is %s" % torch.__version__)
    if not any(shutil.which(name) for name in (os.environ.get("CXX"), "g++", "clang++") if name):
        raise Unsupported("torch.compile needs a C++ compiler, and there is none here: install g++")
    # Fresh for each process, so that a repeat never uses what another one compiled. The default folder is named after
    # the user, who in a container may have no name, and making an optimizer has set the variable to it already.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(prefix="torchinductor-")
    return torch.compile(network)


def _graph_breaks():
    """Count the times that the compiler had to hand back to Python, by its own counter."""
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def _taking_all(network):
    return lambda inputs: network(*inputs)
