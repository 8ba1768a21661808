"""LeNet in flax (NNX) with optax, with one jitted training step over split state and donated buffers."""

import argparse
import functools
import os
import time

import jax
import jax.numpy as jnp
import learnable
import optax
from flax import nnx

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()
os.environ["NPROC"] = str(args.threads)  # read when the first array makes JAX start its backend


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


definition, state = nnx.split(LeNet(nnx.Rngs(0)))
# A plain list is faster: JAX would walk a tree of NNX's own classes in Python at every call.
weights, tree = jax.tree.flatten(state)
optimizer = optax.adam(0.001)
moments = optimizer.init(weights)
batches = [(jnp.asarray(x.transpose(0, 2, 3, 1)), jnp.asarray(y)) for x, y in learnable.batches(args.batch)]


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(weights, moments, x, y):
    def loss_of(weights):
        logits = nnx.merge(definition, tree.unflatten(weights))(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, gradients = jax.value_and_grad(loss_of)(weights)
    updates, moments = optimizer.update(gradients, moments, weights)
    return optax.apply_updates(weights, updates), moments, loss


def train(weights, moments, first, count):
    for i in range(first, first + count):
        weights, moments, loss = step(weights, moments, *batches[i % len(batches)])
    jax.block_until_ready((weights, loss))
    return weights, moments


weights, moments = train(weights, moments, 0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = time.perf_counter()
    weights, moments = train(weights, moments, start, args.every)
    learnable.report(args.every * args.batch, tic)
