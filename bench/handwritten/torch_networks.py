"""The networks of `torch_loop.py`, each with its optimizer and the shape of its data."""

import torch
from torch import nn
from torch.nn import functional


def normalised(before, filters, kernel=3, stride=1, bias=False):
    """Return a convolution that keeps the size or halves it, with batch norm."""
    padding = kernel // 2 if stride == 1 else 0
    convolution = nn.Conv2d(before, filters, kernel, stride, padding, bias=bias)
    return nn.Sequential(convolution, nn.BatchNorm2d(filters, eps=1e-3))


class Block(nn.Module):
    """Two convolutions of ResNet20 with a shortcut past them."""

    def __init__(self, before, filters, stride):
        super().__init__()
        self.halves = stride > 1
        self.first = normalised(before, filters, 3, stride)
        self.second = normalised(filters, filters)
        self.shortcut = normalised(before, filters, 1, stride) if self.halves else nn.Identity()

    def forward(self, x):
        padded = functional.pad(x, (0, 1, 0, 1)) if self.halves else x
        inner = self.second(functional.relu(self.first(padded)))
        return functional.relu(inner + self.shortcut(x))


class LastOutput(nn.Module):
    """An LSTM that gives its last output."""

    def __init__(self, features, units):
        super().__init__()
        self.lstm = nn.LSTM(features, units, batch_first=True)
        self.lstm.bias_hh_l0.requires_grad = False  # one bias is enough

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 3),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def resnet20():
    blocks, before = [], 16
    for filters in (16, 32, 64):
        for number in range(3):
            blocks.append(Block(before, filters, 2 if filters > 16 and number == 0 else 1))
            before = filters
    return nn.Sequential(
        normalised(3, 16), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)
    )


def vgg19():
    layers, before = [], 3
    for filters, convolutions in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(convolutions):
            layers += [normalised(before, filters, bias=True), nn.ReLU()]
            before = filters
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))


def lstm():
    return nn.Sequential(LastOutput(60, 128), nn.Linear(128, 60))


class EncoderLayer(nn.Module):
    """Attention and two linear layers, each with a norm after its stream.

    PyTorch's own `TransformerEncoderLayer` takes longer in training.
    """

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        batch, steps, width = x.shape
        query, key, value = (
            projection(x).view(batch, steps, self.heads, width // self.heads).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        attended = functional.scaled_dot_product_attention(query, key, value)
        x = self.first(x + self.output(attended.transpose(1, 2).reshape(x.shape)))
        return self.second(x + self.narrow(functional.gelu(self.wide(x))))


class Encoder(nn.Module):
    """BERT-Tiny without dropout and segments."""

    def __init__(self, width=128, depth=2, heads=2, steps=128, tokens=30522):
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Parameter(0.02 * torch.randn(steps, width))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([EncoderLayer(width, heads) for _ in range(depth)])
        self.pooler = nn.Linear(width, width)
        self.classes = nn.Linear(width, 3)

    def forward(self, x):
        x = self.norm(self.tokens(x) + self.positions)
        for layer in self.layers:
            x = layer(x)
        return self.classes(torch.tanh(self.pooler(x[:, 0])))


def encoder():
    return Encoder()


RATES = {"encoder": 0.0001}


def optimizer(name, parameters, fused):
    if name == "lstm":
        return torch.optim.RMSprop(parameters, lr=0.01, alpha=0.9, eps=1e-7)
    return torch.optim.Adam(parameters, lr=RATES.get(name, 0.001), **({"fused": True} if fused else {}))
