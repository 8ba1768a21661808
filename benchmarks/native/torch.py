"""PyTorch's layers for the vocabulary, and the places of their weights."""

import contextlib
import operator

import torch

from benchmarks.native.transformers import torch as torch_transformer
from benchmarks.vocabulary import graph, losses


def computed_on(device):
    """Return the device of a tensor that is computed on a device."""
    return str((torch.zeros(1, device=device) + 1).device)


class TorchLstm(torch.nn.LSTM):
    """A `torch.nn.LSTM` that yields all of its outputs or the last one, and no state.

    Its second bias is zero and frozen, in both directions if it has two.
    """

    def __init__(self, features, units, sequences, bidirectional):
        super().__init__(features, units, batch_first=True, bidirectional=bidirectional)
        self.sequences = sequences
        for bias in [self.bias_hh_l0] + ([self.bias_hh_l0_reverse] if bidirectional else []):
            with torch.no_grad():
                bias.zero_()
            bias.requires_grad_(False)

    def forward(self, inputs):
        """Map (batch, time, features) to (batch, time, outputs) or (batch, outputs)."""
        outputs, (hidden, _) = super().forward(inputs)
        if self.sequences:
            return outputs
        return torch.cat((hidden[0], hidden[1]), 1) if self.bidirectional else hidden[-1]


class TorchGru(torch.nn.GRU):
    """A `torch.nn.GRU` that yields all of its outputs or the last one, and no state.

    Its second bias is zero and frozen.
    """

    def __init__(self, features, units, sequences):
        super().__init__(features, units, batch_first=True)
        self.sequences = sequences
        with torch.no_grad():
            self.bias_hh_l0.zero_()
        self.bias_hh_l0.requires_grad_(False)

    def forward(self, inputs):
        """Map (batch, time, features) to (batch, time, units) or (batch, units)."""
        outputs, hidden = super().forward(inputs)
        return outputs if self.sequences else hidden[-1]


class TorchTimeDistributed(torch.nn.Module):
    """A module that runs on each step of a sequence, or on each row of an image, as one larger batch."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, inputs):
        """Map (batch, time, features), or (batch, channels, height, width), to (batch, steps, units)."""
        if inputs.dim() == 4:
            inputs = inputs.permute(0, 2, 3, 1)
        steps = inputs.shape[:2]
        outputs = self.inner(inputs.reshape((-1,) + tuple(inputs.shape[2:])))
        return outputs.reshape(tuple(steps) + tuple(outputs.shape[1:]))


class TorchRepeat(torch.nn.Module):
    """A module that makes a sequence of equal steps."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, inputs):
        """Map (batch, features) to (batch, times, features)."""
        return inputs.unsqueeze(1).expand(-1, self.times, -1)


def _separable_conv2d(layer):
    settings, channels = layer.settings, layer.input_shape[0]
    top, bottom, left, right = settings["pads"]
    depthwise = torch.nn.Conv2d(
        channels, channels, settings["kernel"], stride=settings["stride"], groups=channels, bias=False
    )
    pointwise = torch.nn.Conv2d(channels, settings["filters"], 1, bias=settings["bias"])
    if top == bottom and left == right:
        depthwise.padding = (top, left)
        return torch.nn.Sequential(depthwise, pointwise)
    return torch.nn.Sequential(torch.nn.ZeroPad2d((left, right, top, bottom)), depthwise, pointwise)


def _max_pool(layer):
    size, stride = layer.settings["size"], layer.settings["stride"]
    top, bottom, left, right = layer.settings["pads"]
    if top == bottom and left == right:
        return torch.nn.MaxPool2d(size, stride, padding=(top, left))
    padding = torch.nn.ConstantPad2d((left, right, top, bottom), float("-inf"))
    return torch.nn.Sequential(padding, torch.nn.MaxPool2d(size, stride))


def _conv2d(layer):
    settings = layer.settings
    top, bottom, left, right = settings["pads"]
    symmetric = top == bottom and left == right
    convolution = torch.nn.Conv2d(
        layer.input_shape[0], settings["filters"], settings["kernel"], stride=settings["stride"],
        padding=(top, left) if symmetric else 0, bias=settings["bias"],
    )  # fmt: skip
    return (
        convolution if symmetric else torch.nn.Sequential(torch.nn.ZeroPad2d((left, right, top, bottom)), convolution)
    )


def _batch_norm(layer):
    # PyTorch's momentum is the share of the new value.
    kind = torch.nn.BatchNorm2d if len(layer.input_shape) == 3 else torch.nn.BatchNorm1d
    return kind(layer.input_shape[0], eps=layer.settings["epsilon"], momentum=1 - layer.settings["momentum"])


def _lstm(layer):
    settings = layer.settings
    return TorchLstm(layer.input_shape[1], settings["units"], settings["sequences"], settings["bidirectional"])


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: torch.nn.Linear(layer.input_shape[-1], layer.settings["units"], bias=layer.settings["bias"]),
    "max_pool": _max_pool,
    "average_pool": lambda layer: torch.nn.AvgPool2d(layer.settings["size"]),
    "global_average_pool": lambda _layer: torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()),
    "batch_norm": _batch_norm,
    "add": lambda _layer: None,
    "lstm": _lstm,
    "flatten": lambda _layer: torch.nn.Flatten(),
    "relu": lambda _layer: torch.nn.ReLU(),
    "dropout": lambda layer: torch.nn.Dropout(layer.settings["rate"]),
    "sigmoid": lambda _layer: torch.nn.Sigmoid(),
    "tanh": lambda _layer: torch.nn.Tanh(),
    "softmax": lambda _layer: torch.nn.Softmax(dim=-1),
    "concatenate": lambda _layer: None,
    "repeat": lambda layer: TorchRepeat(layer.settings["times"]),
    "embedding": lambda layer: torch.nn.Embedding(layer.settings["vocabulary"], layer.settings["units"]),
    "gru": lambda layer: TorchGru(layer.input_shape[1], layer.settings["units"], layer.settings["sequences"]),
    "separable_conv2d": _separable_conv2d,
    "time_distributed": lambda layer: TorchTimeDistributed(modules([layer.settings["layer"]])[0]),
}
_LAYERS.update(torch_transformer.LAYERS)
_FUNCTIONS = {"add": operator.add, "multiply": operator.mul}
"""Operators of two values that need no module."""


def modules(layers):
    """Make one module for each layer, or None if an operator does its work."""
    return [_LAYERS[layer.kind](layer) for layer in layers]


def network(layers, made, names=("inputs",)):
    """Put modules together.

    Return a Sequential, or for a model with branches or several inputs a module whose `forward` is straight code.
    """
    if graph.is_stack(layers):
        return torch.nn.Sequential(*made)
    if not hasattr(torch, "fx"):
        return _Graph(layers, made)
    drawn = torch.fx.Graph()
    values = {-number: drawn.placeholder(name) for number, name in enumerate(names)}
    for number, (layer, module) in enumerate(zip(layers, made), 1):
        taken = tuple(values[position] for position in layer.inputs)
        if module:
            values[number] = drawn.call_module(layer.name, taken)
        elif layer.kind in _FUNCTIONS:
            values[number] = drawn.call_function(_FUNCTIONS[layer.kind], taken)
        else:
            # Channels or features, which are the second or the last of the axes with a batch.
            values[number] = drawn.call_function(torch.cat, (list(taken), 1 if layer.settings["image"] else -1))
    drawn.output(values[len(layers)])
    return torch.fx.GraphModule({layer.name: module for layer, module in zip(layers, made) if module}, drawn)


class _Graph(torch.nn.Module):
    """A module with branches for PyTorch before 1.8, which cannot write straight code."""

    def __init__(self, layers, made):
        super().__init__()
        for layer, module in zip(layers, made):
            if module:
                self.add_module(layer.name, module)
        self._calls = [(module or operator_of(layer), layer.inputs) for layer, module in zip(layers, made)]

    def forward(self, *inputs):
        """Call each layer with the values that it takes."""
        values = {-number: each for number, each in enumerate(inputs)}
        for number, (call, positions) in enumerate(self._calls, 1):
            values[number] = call(*[values[position] for position in positions])
        return values[len(self._calls)]


def operator_of(layer):
    """Return what computes a layer that has no module."""
    if layer.kind in _FUNCTIONS:
        return _FUNCTIONS[layer.kind]
    axis = 1 if layer.settings["image"] else -1
    return lambda *taken: torch.cat(taken, axis)


# For each parameter in canonical order: its attribute, and its axes as the canonical ones are numbered.
_TENSORS = {
    "conv2d": (("weight", (3, 2, 0, 1)), ("bias", (0,))),
    "dense": (("weight", (1, 0)), ("bias", (0,))),
    "batch_norm": (("weight", (0,)), ("bias", (0,))),
    "lstm": (
        ("weight_ih_l0", (1, 0)),
        ("weight_hh_l0", (1, 0)),
        ("bias_ih_l0", (0,)),
        ("weight_ih_l0_reverse", (1, 0)),
        ("weight_hh_l0_reverse", (1, 0)),
        ("bias_ih_l0_reverse", (0,)),
    ),  # the last three if it is bidirectional
    "gru": (("weight_ih_l0", (1, 0)), ("weight_hh_l0", (1, 0)), ("bias_ih_l0", (0,))),
    "embedding": (("weight", (0, 1)),),
    "layer_norm": (("weight", (0,)), ("bias", (0,))),
    "rms_norm": (("weight", (0,)),),
    "positions": (("weight", (0, 1)),),
    "separable_conv2d": (("weight", (2, 3, 0, 1)), ("weight", (3, 2, 0, 1)), ("bias", (0,))),
}


def _tensors(layers, made):
    """Yield each parameter's name, its native tensor and its axes."""
    for layer, module in zip(layers, made):
        if layer.kind == "attention":
            for parameter in layer.parameters:
                yield (parameter.name,) + torch_transformer.owned(module, parameter)
        elif layer.parameters:
            inner = layer.settings["layer"] if layer.kind == "time_distributed" else layer
            holder = module if inner is layer else module.inner
            for parameter, (attribute, axes) in zip(layer.parameters, _TENSORS[inner.kind]):
                place = -2 if parameter.name.endswith(".depthwise") else -1
                owner = holder[place] if isinstance(holder, torch.nn.Sequential) else holder
                yield parameter.name, getattr(owner, attribute), axes


def sparse_rows(rows, device):
    """Return rows as coordinates and values. `Linear` takes these in every release, and compressed rows in new ones."""
    return torch.sparse_coo_tensor(rows.places().T, rows.csr()[0], rows.shape, device=device).coalesce()


def set_weights(layers, made, weights):
    """Copy canonical arrays into the native tensors."""
    with torch.no_grad():
        for name, tensor, axes in _tensors(layers, made):
            tensor.copy_(torch.from_numpy(weights[name]).permute(*axes))


def l2_terms(layers, made):
    """Return each weight that has an L2 term, with the term's factor."""
    factors = dict(losses.l2_terms(layers))
    return [(factors[name], tensor) for name, tensor, _ in _tensors(layers, made) if name in factors]


def weights(layers, made):
    """Copy the native tensors into canonical float32 arrays, by parameter name."""
    return {
        name: tensor.detach().float().cpu().permute(*_inverse(axes)).contiguous().numpy().copy()
        for name, tensor, axes in _tensors(layers, made)
    }


def _inverse(axes):
    return tuple(axes.index(axis) for axis in range(len(axes)))


def trainable(module):
    """Count the logical weights that a module trains. The second bias of an LSTM is frozen."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


@contextlib.contextmanager
def evaluating(whole):
    """Run the inner block in evaluation mode and without gradients, and restore the mode after it."""
    training = whole.training
    whole.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        whole.train(training)


@contextlib.contextmanager
def watching(made):
    """Collect what each module yields in the inner block.

    Yield a list in the order of the modules, with None for a layer without a module.
    """
    yielded = [None] * len(made)

    def keep(number):
        def hook(_module, _inputs, output):
            yielded[number] = output

        return hook

    hooks = [module.register_forward_hook(keep(number)) for number, module in enumerate(made) if module]
    try:
        yield yielded
    finally:
        for hook in hooks:
            hook.remove()
