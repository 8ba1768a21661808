"""PyTorch: `torch.nn` layers in a Sequential, eager, without TF32.

Shapes are channels first as always in PyTorch; on a CPU the values lie channels last in memory, which is faster there.
"""

import torch

OPTIONS = {}


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        torch.manual_seed(workload.seed)
        if workload.threads:
            torch.set_num_threads(workload.threads)
        self._device = torch.device("cuda:0" if workload.one_device() else "cpu")
        if self._device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = False
            torch.backends.cudnn.allow_tf32 = False
            torch.backends.cudnn.benchmark = True
        network = torch.nn.Sequential(*[_LAYERS[layer.kind](layer) for layer in workload.layers])
        _set_weights(network, workload)
        network.to(self._device).train(workload.training)
        # PyTorch before 1.5 knows one memory format for modules.
        self._channels_last = self._device.type == "cpu" and hasattr(torch, "channels_last")
        if self._channels_last:
            network.to(memory_format=torch.channels_last)
        self.batches = [self._placed(inputs, labels) for inputs, labels in workload.batches()]
        self.parameters = sum(parameter.numel() for parameter in network.parameters())
        self._optimizer = _optimizer(network.parameters(), workload.optimizer) if workload.training else None
        self.step = _training_step(network, self._optimizer) if workload.training else _inference_step(network)

    def _placed(self, inputs, labels):
        """Copy a batch into memory that PyTorch itself allocates and aligns, laid out as the weights are."""
        inputs = torch.tensor(inputs, device=self._device)
        if self._channels_last and inputs.dim() == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        return inputs, torch.tensor(labels, dtype=torch.long, device=self._device)

    def synchronise(self, _handle):
        """Wait for the GPU; on a CPU every step is synchronous."""
        if self._device.type == "cuda":
            torch.cuda.synchronize()

    @staticmethod
    def fetch(handle):
        """Bring the logits to the host, where on a CPU they are already."""
        return handle.cpu().numpy()

    @staticmethod
    def loss(handle):
        """Mean over the batch."""
        return float(handle.item())

    def facts(self):
        """Threads are those of the intra-op pool."""
        return {
            "framework_version": torch.__version__,
            "layout": "channels_last" if self._channels_last else "channels_first",
            "precision": "float32",
            "threads": torch.get_num_threads(),
            "device": str(self._device),
            "execution": "eager",
            "optimizer_form": _form(self._optimizer),
            "libraries": [name for name in ("mkldnn", "mkl", "openmp") if getattr(torch.backends, name).is_available()],
        }

    def peak_device_bytes(self):
        """Highest sum of the tensors on the GPU."""
        return torch.cuda.max_memory_allocated() if self._device.type == "cuda" else None


def _training_step(network, optimizer):
    loss_of = torch.nn.CrossEntropyLoss()

    def step(batch):
        inputs, labels = batch
        optimizer.zero_grad()
        loss = loss_of(network(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _inference_step(network):
    # `inference_mode` came with PyTorch 1.9; what was there before saves less bookkeeping.
    without_gradients = getattr(torch, "inference_mode", torch.no_grad)

    @without_gradients()
    def step(batch):
        return network(batch[0])

    return step


_LAYERS = {
    "conv2d": lambda layer: torch.nn.Conv2d(layer.input_shape[0], layer.settings["filters"], layer.settings["kernel"]),
    "dense": lambda layer: torch.nn.Linear(layer.input_shape[0], layer.settings["units"]),
    "average_pool": lambda layer: torch.nn.AvgPool2d(layer.settings["size"]),
    "flatten": lambda _layer: torch.nn.Flatten(),
    "relu": lambda _layer: torch.nn.ReLU(),
    "dropout": lambda layer: torch.nn.Dropout(layer.settings["rate"]),
}


def _set_weights(network, workload):
    weights = workload.weights()
    with torch.no_grad():
        for layer, module in zip(workload.layers, network):
            if layer.parameters:
                weight, bias = (torch.from_numpy(weights[parameter.name]) for parameter in layer.parameters)
                module.weight.copy_(weight.permute(3, 2, 0, 1) if weight.dim() == 4 else weight.t())
                module.bias.copy_(bias)


def _optimizer(parameters, settings):
    parameters = list(parameters)
    rate = settings["learning_rate"]
    if settings["name"] == "adam":
        betas = (settings["beta_1"], settings["beta_2"])
        return _fused(torch.optim.Adam, parameters, lr=rate, betas=betas, eps=settings["epsilon"])
    if settings["name"] == "rmsprop":
        # PyTorch adds epsilon outside the root: `optimizers` says why it stands here unsquared.
        return torch.optim.RMSprop(parameters, lr=rate, alpha=settings["rho"], eps=settings["epsilon"])
    return _fused(torch.optim.SGD, parameters, lr=rate, momentum=settings["momentum"])


def _fused(optimizer, parameters, **settings):
    """Make the optimizer in its fused form, which PyTorch has for CPUs since 2.4, or else in its default form."""
    try:
        return optimizer(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):
        return optimizer(parameters, **settings)


def _form(optimizer):
    """Which of its implementations an optimizer runs; None in inference."""
    if optimizer is None:
        return None
    if optimizer.defaults.get("fused"):
        return "fused"
    # Left to itself, PyTorch takes the foreach form for weights on a GPU only.
    on_gpu = optimizer.param_groups[0]["params"][0].is_cuda
    return "foreach" if on_gpu and "foreach" in optimizer.defaults else "for-loop"
