"""Greedy generation in JAX by a decoder as Llama is one, with one jitted step for prompts and one for tokens.

Keys and values are arrays of a fixed size, which each step is given to write to. On a GPU it computes in float32
without TF32.
"""

import functools
import os

import generating
import jax
import jax.numpy as jnp
import numpy as np
from generating import DEPTH, EPSILON, HEADS, INNER, SHARED_HEADS, VOCABULARY, WIDTH

args = generating.arguments()
os.environ["NPROC"] = str(args.threads)  # read when the first array makes JAX start its backend
if args.device == "gpu":
    jax.config.update("jax_platforms", "cuda")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax.config.update("jax_default_matmul_precision", "highest")
SIZE, CAPACITY = WIDTH // HEADS, args.prompt + args.output
COSINES, SINES = generating.angles(CAPACITY)
SHAPES = {
    "query": (WIDTH, WIDTH), "key": (WIDTH, SHARED_HEADS * SIZE), "value": (WIDTH, SHARED_HEADS * SIZE),
    "output": (WIDTH, WIDTH), "gate": (WIDTH, INNER), "up": (WIDTH, INNER), "down": (INNER, WIDTH),
}  # fmt: skip
keys = iter(jax.random.split(jax.random.key(0), 2 + DEPTH * len(SHAPES)))


def drawn(shape):
    return jax.random.normal(next(keys), shape) * (2 / sum(shape)) ** 0.5


weights = {
    "embedding": drawn((VOCABULARY, WIDTH)),
    "head": drawn((WIDTH, VOCABULARY)),
    "norm": jnp.ones(WIDTH),
    "layers": [
        {
            **{name: drawn(shape) for name, shape in SHAPES.items()},
            "before": jnp.ones(WIDTH),
            "between": jnp.ones(WIDTH),
        }
        for _ in range(DEPTH)
    ],
}
empty = (args.batch, CAPACITY, SHARED_HEADS, SIZE)
cache = [(jnp.zeros(empty), jnp.zeros(empty)) for _ in range(DEPTH)]
batches = [jnp.asarray(each) for each in generating.prompts(args.batch, args.prompt)]


def normal(x, scale):
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + EPSILON) * scale


def turned(values, begin):
    first, second = jnp.split(values, 2, axis=-1)
    cosines, sines = (
        jax.lax.dynamic_slice_in_dim(jnp.asarray(each), begin, values.shape[1])[:, None] for each in (COSINES, SINES)
    )
    return jnp.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)


def forward(weights, cache, tokens, begin, is_prompt):
    x, batch, steps, filled = weights["embedding"][tokens], *tokens.shape, []
    for layer, before in zip(weights["layers"], cache):
        y = normal(x, layer["before"])
        query = turned((y @ layer["query"]).reshape(batch, steps, HEADS, SIZE), begin)
        key = turned((y @ layer["key"]).reshape(batch, steps, SHARED_HEADS, SIZE), begin)
        value = (y @ layer["value"]).reshape(batch, steps, SHARED_HEADS, SIZE)
        held = [jax.lax.dynamic_update_slice(old, new, (0, begin, 0, 0)) for old, new in zip(before, (key, value))]
        if is_prompt:
            attended = jax.nn.dot_product_attention(query, key, value, is_causal=True)
        else:
            lengths = jnp.full((batch,), begin + 1, jnp.int32)
            attended = jax.nn.dot_product_attention(query, *held, key_value_seq_lengths=lengths)
        filled.append(tuple(held))
        x = x + attended.reshape(batch, steps, WIDTH) @ layer["output"]
        y = normal(x, layer["between"])
        x = x + (jax.nn.silu(y @ layer["gate"]) * (y @ layer["up"])) @ layer["down"]
    return jnp.argmax(normal(x[:, -1], weights["norm"]) @ weights["head"], axis=-1), filled


@functools.partial(jax.jit, donate_argnums=1)
def prefill(weights, cache, prompt):
    return forward(weights, cache, prompt, 0, is_prompt=True)


@functools.partial(jax.jit, donate_argnums=1)
def decode(weights, cache, tokens, position):
    tokens, cache = forward(weights, cache, tokens[:, None], position, is_prompt=False)
    return tokens, cache, position + 1


def generate(prompt):
    global cache
    tokens, cache = prefill(weights, cache, prompt)
    streamed, position = [np.asarray(tokens)], jnp.int32(args.prompt)
    for _ in range(args.output - 1):
        tokens, cache, position = decode(weights, cache, tokens, position)
        streamed.append(np.asarray(tokens))
    return streamed


generating.run(generate, batches, args)
