"""LeNet in Gluon, hybridized, with static memory where MXNet has it."""

import argparse

import learnable
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()

# MXNet 1.3 and later.
STATIC = {} if mx.__version__.startswith(("0.", "1.1", "1.2")) else {"static_alloc": True, "static_shape": True}
net = nn.HybridSequential()
for layer in (
    nn.Conv2D(6, 5, activation="relu"),
    nn.AvgPool2D(2),
    nn.Conv2D(16, 3, activation="relu"),
    nn.AvgPool2D(2),
    nn.Dense(120, activation="relu"),
    nn.Dense(84, activation="relu"),
    nn.Dense(10),
):
    net.add(layer)
net.initialize(mx.init.Xavier())
net.hybridize(**STATIC)
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
criterion.hybridize(**STATIC)
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.001})

batches = [(mx.nd.array(x), mx.nd.array(y)) for x, y in learnable.batches(args.batch)]


def train(first, count):
    for i in range(first, first + count):
        x, y = batches[i % len(batches)]
        with autograd.record():
            loss = criterion(net(x), y)
        loss.backward()
        trainer.step(args.batch)


train(0, args.warmup)
mx.nd.waitall()
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    train(start, args.every)
    mx.nd.waitall()
    learnable.report(args.every * args.batch, tic)
