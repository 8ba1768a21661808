"""The networks of `jax_loop.py` in flax (NNX), with their optimizers; images are channels last."""

import jax
import optax
from flax import nnx


class Normalised(nnx.Module):
    """A convolution that keeps the size or halves it, with batch norm."""

    def __init__(self, before, filters, rngs, *, kernel=3, stride=1, bias=False):
        self.convolution = nnx.Conv(before, filters, (kernel, kernel), stride, use_bias=bias, rngs=rngs)
        self.norm = nnx.BatchNorm(filters, momentum=0.9, epsilon=1e-3, rngs=rngs)

    def __call__(self, x):
        return self.norm(self.convolution(x))


class Block(nnx.Module):
    """Two convolutions of ResNet20 with a shortcut past them."""

    def __init__(self, before, filters, stride, rngs):
        self.first = Normalised(before, filters, rngs, stride=stride)
        self.second = Normalised(filters, filters, rngs)
        self.shortcut = Normalised(before, filters, rngs, kernel=1, stride=stride) if stride > 1 else None

    def __call__(self, x):
        inner = self.second(nnx.relu(self.first(x)))
        return nnx.relu(inner + (self.shortcut(x) if self.shortcut else x))


class LeNet(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 6, (5, 5), padding="VALID", rngs=rngs)
        self.conv2 = nnx.Conv(6, 16, (3, 3), padding="VALID", rngs=rngs)
        self.dense1 = nnx.Linear(400, 120, rngs=rngs)
        self.dense2 = nnx.Linear(120, 84, rngs=rngs)
        self.dense3 = nnx.Linear(84, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.conv1(x)), (2, 2), (2, 2))
        x = nnx.avg_pool(nnx.relu(self.conv2(x)), (2, 2), (2, 2))
        x = x.reshape(len(x), -1)
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


class ResNet20(nnx.Module):
    def __init__(self, rngs):
        self.first = Normalised(3, 16, rngs)
        blocks, before = [], 16
        for filters in (16, 32, 64):
            for number in range(3):
                blocks.append(Block(before, filters, 2 if filters > 16 and number == 0 else 1, rngs))
                before = filters
        self.blocks = nnx.List(blocks)
        self.dense = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.first(x))
        for block in self.blocks:
            x = block(x)
        return self.dense(x.mean(axis=(1, 2)))


class Vgg19(nnx.Module):
    STAGES = ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4))

    def __init__(self, rngs):
        convolutions, before = [], 3
        for filters, number in self.STAGES:
            for _ in range(number):
                convolutions.append(Normalised(before, filters, rngs, bias=True))
                before = filters
        self.convolutions = nnx.List(convolutions)
        self.dense = nnx.Linear(512, 10, rngs=rngs)

    def __call__(self, x):
        convolutions = iter(self.convolutions)
        for _, number in self.STAGES:
            for _ in range(number):
                x = nnx.relu(next(convolutions)(x))
            x = nnx.max_pool(x, (2, 2), (2, 2))
        return self.dense(x.reshape(len(x), -1))


class Lstm(nnx.Module):
    def __init__(self, rngs):
        self.lstm = nnx.RNN(nnx.OptimizedLSTMCell(60, 128, rngs=rngs))
        self.dense = nnx.Linear(128, 60, rngs=rngs)

    def __call__(self, x):
        return self.dense(self.lstm(x)[:, -1])


class EncoderLayer(nnx.Module):
    """Attention and two dense layers, each with a norm after its stream."""

    def __init__(self, width, heads, rngs):
        self.heads = heads
        self.query, self.key, self.value, self.output = (nnx.Linear(width, width, rngs=rngs) for _ in range(4))
        self.wide = nnx.Linear(width, 4 * width, rngs=rngs)
        self.narrow = nnx.Linear(4 * width, width, rngs=rngs)
        self.norms = nnx.List([nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs) for _ in range(2)])

    def __call__(self, x):
        split = (*x.shape[:2], self.heads, x.shape[2] // self.heads)
        query, key, value = (each(x).reshape(split) for each in (self.query, self.key, self.value))
        attended = jax.nn.dot_product_attention(query, key, value)
        x = self.norms[0](x + self.output(attended.reshape(x.shape)))
        return self.norms[1](x + self.narrow(jax.nn.gelu(self.wide(x), approximate=False)))


class Encoder(nnx.Module):
    """BERT-Tiny without dropout and segments."""

    def __init__(self, rngs, width=128, depth=2, heads=2, *, steps=128, tokens=30522):
        self.tokens = nnx.Embed(tokens, width, rngs=rngs)
        self.positions = nnx.Param(0.02 * jax.random.normal(rngs.params(), (steps, width)))
        self.norm = nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs)
        self.layers = nnx.List([EncoderLayer(width, heads, rngs) for _ in range(depth)])
        self.pooler = nnx.Linear(width, width, rngs=rngs)
        self.classes = nnx.Linear(width, 3, rngs=rngs)

    def __call__(self, x):
        x = self.norm(self.tokens(x) + self.positions[...])
        for layer in self.layers:
            x = layer(x)
        return self.classes(jax.numpy.tanh(self.pooler(x[:, 0])))


NETWORKS = {"lenet": LeNet, "resnet20": ResNet20, "vgg19": Vgg19, "lstm": Lstm, "encoder": Encoder}


def optimizer(name):
    if name == "encoder":
        return optax.adam(0.0001)
    return optax.rmsprop(0.01, decay=0.9, eps=1e-7) if name == "lstm" else optax.adam(0.001)


def loss_of(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def leaves(state):
    """Return the arrays of a state as a list: JAX would walk a tree of NNX's own classes in Python at every call."""
    return jax.tree.flatten(state)
