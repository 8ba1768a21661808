"""Training in flax (NNX) with optax, with one jitted training step over split state and donated buffers.

On a GPU it computes in float32 without TF32.
"""

import argparse
import functools
import os

import jax
import jax.numpy as jnp
import jax_networks as networks
import learnable
import optax
from flax import nnx

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--model", choices=sorted(learnable.MODELS), default="lenet")
parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
args = parser.parse_args()
os.environ["NPROC"] = str(args.threads)  # read when the first array makes JAX start its backend
if args.device == "gpu":
    jax.config.update("jax_platforms", "cuda")
    jax.config.update("jax_default_matmul_precision", "highest")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


definition, weights, variables = nnx.split(networks.NETWORKS[args.model](nnx.Rngs(0)), nnx.Param, ...)
weights, weights_tree = networks.leaves(weights)
variables, variables_tree = networks.leaves(variables)
optimizer = networks.optimizer(args.model)
moments = optimizer.init(weights)
batches = [
    (jnp.asarray(x.transpose(0, 2, 3, 1) if x.ndim == 4 else x), jnp.asarray(y))
    for x, y in learnable.batches(args.batch, **learnable.MODELS[args.model])
]


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def step(weights, variables, moments, x, y):
    def loss_of(weights):
        network = nnx.merge(definition, weights_tree.unflatten(weights), variables_tree.unflatten(variables))
        loss = networks.loss_of(network(x), y)
        return loss, jax.tree.leaves(nnx.state(network, nnx.Not(nnx.Param)))

    (loss, changed), gradients = jax.value_and_grad(loss_of, has_aux=True)(weights)
    updates, moments = optimizer.update(gradients, moments, weights)
    return optax.apply_updates(weights, updates), changed, moments, loss


def train(state, first, count):
    for i in range(first, first + count):
        *state, loss = step(*state, *batches[i % len(batches)])
    jax.block_until_ready((state, loss))
    return state


state = train((weights, variables, moments), 0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    state = train(state, start, args.every)
    learnable.report(args.every * args.batch, tic)
