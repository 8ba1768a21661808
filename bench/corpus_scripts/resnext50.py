"""ResNeXt-50 (32 groups of 4 filters) in Gluon: inference on one image at a time, hybridized.

Source of the network: Xie and others, "Aggregated Residual Transformations for Deep Neural Networks", CVPR 2017.
"""

import time

import mxnet as mx
from mxnet.gluon import nn

GROUPS, WIDTH = 32, 4
STAGES = ((3, 256), (4, 512), (6, 1024), (3, 2048))
WARM_UP, STEPS, BLOCKS = 20, 20, 8


class Unit(nn.HybridBlock):
    """A bottleneck whose middle convolution works on groups of channels."""

    def __init__(self, filters, stride, projects):
        super().__init__()
        inner = filters // 256 * GROUPS * WIDTH
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(
                *(nn.Conv2D(inner, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu")),
                *(nn.Conv2D(inner, 3, stride, 1, groups=GROUPS, use_bias=False), nn.BatchNorm(), nn.Activation("relu")),
                *(nn.Conv2D(filters, 1, use_bias=False), nn.BatchNorm()),
            )
            self.shortcut = nn.HybridSequential()
            if projects:
                self.shortcut.add(nn.Conv2D(filters, 1, stride, use_bias=False), nn.BatchNorm())

    def hybrid_forward(self, F, x):  # noqa: N803 - Gluon calls it so
        shortcut = self.shortcut(x) if len(self.shortcut) else x
        return F.Activation(self.body(x) + shortcut, act_type="relu")


def network():
    """Return the network."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 7, 2, 3, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))
    for stage, (units, filters) in enumerate(STAGES):
        for unit in range(units):
            net.add(Unit(filters, 2 if stage and not unit else 1, projects=not unit))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(1000))
    return net


def main():
    """Print images/s of each block of steps."""
    mx.random.seed(1)
    net = network()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    image = mx.nd.random.uniform(shape=(1, 3, 224, 224))
    for _ in range(WARM_UP):
        net(image).wait_to_read()
    for _ in range(BLOCKS):
        began = time.perf_counter()
        for _ in range(STEPS):
            net(image).wait_to_read()
        print("%.4f images/s" % (STEPS / (time.perf_counter() - began)))


main()
