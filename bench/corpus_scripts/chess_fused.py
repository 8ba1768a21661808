"""A chess program's residual tower as a bound symbol: inference on eight boards at a time.

MXNet 1.4 and 1.5 read MXNET_SUBGRAPH_BACKEND where a symbol is bound, and nowhere else. The tower is that of
`corpus_models/chess_tower.py`, with random weights.
"""

import time

import mxnet as mx

BATCH, PLANES, BOARD, MOVES = 8, 34, 8, 2272
BLOCKS, FILTERS, HEAD_FILTERS = 7, 256, 8
WARM_UP, STEPS, TIMED = 20, 20, 8


def normalised(x, filters, size):
    """Return a convolution that keeps the board, without a bias, and its normalisation."""
    pad = (size // 2, size // 2)
    x = mx.sym.Convolution(x, kernel=(size, size), pad=pad, num_filter=filters, no_bias=True)
    return mx.sym.BatchNorm(x, fix_gamma=False)


def relu(x):
    return mx.sym.Activation(x, act_type="relu")


def tower():
    """Return the symbol of the logits of all moves."""
    x = relu(normalised(mx.sym.Variable("data"), FILTERS, 3))
    for _ in range(BLOCKS):
        inner = normalised(relu(normalised(x, FILTERS, 3)), FILTERS, 3)
        x = relu(inner + x)
    head = relu(normalised(x, HEAD_FILTERS, 1))
    return mx.sym.FullyConnected(mx.sym.Flatten(head), num_hidden=MOVES)


def main():
    """Print boards/s of each block of steps."""
    mx.random.seed(1)
    executor = tower().simple_bind(ctx=mx.cpu(), grad_req="null", data=(BATCH, PLANES, BOARD, BOARD))
    for name, array in executor.arg_dict.items():
        array[:] = 1.0 if name.endswith("gamma") else mx.nd.random.uniform(-0.05, 0.05, shape=array.shape)
    for name, array in executor.aux_dict.items():
        array[:] = 1.0 if name.endswith("var") else 0.0
    for _ in range(WARM_UP):
        executor.forward(is_train=False)[0].wait_to_read()
    for _ in range(TIMED):
        began = time.perf_counter()
        for _ in range(STEPS):
            executor.forward(is_train=False)[0].wait_to_read()
        print("%.4f boards/s" % (BATCH * STEPS / (time.perf_counter() - began)))


main()
