"""Run in JAX's environment: the programs of its attention by default, by XLA's implementation, and for a CUDA GPU."""

import json
import sys

import jax
from jax import numpy as jnp

QUERIES, KEYS = (2, 8, 4, 16), (2, 8, 2, 16)


def attention(rule, implementation=None):
    """A function of queries and keys, which are values too."""
    asked = {} if implementation is None else {"implementation": implementation}

    def attend(query, key):
        return jax.nn.dot_product_attention(query, key, key, **rule, **asked)

    return attend


given = (jnp.ones(QUERIES, "bfloat16"), jnp.ones(KEYS, "bfloat16"))
answers = []
for rule in ({}, {"is_causal": True}, {"key_value_seq_lengths": jnp.full((2,), 5, "int32")}):
    default, xla = (str(jax.make_jaxpr(attention(rule, named))(*given)) for named in (None, "xla"))
    for_gpu = jax.jit(attention(rule)).trace(*given).lower(lowering_platforms=("cuda",)).as_text()
    answers.append({"is_xla": default == xla, "products": for_gpu.count("dot_general"), "cudnn": "cudnn" in for_gpu})
sys.stdout.write(json.dumps(answers) + "\n")
