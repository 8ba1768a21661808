"""Run in a framework's environment: the calls of the functions that stand for the layers of transformers.

The arguments are a builder, a model beside this file, and `infer` or `generate`. Every function below counts its calls
from before the session is made. What is compiled counts while it is traced.
"""

import functools
import importlib
import json
import sys

from benchmarks import contract
from benchmarks.workload import ModelWorkload

ATTENTION, GELU, LAYER_NORM, RMS_NORM, SILU = "attention", "gelu", "layer_norm", "rms_norm", "silu"
KERAS = {
    ATTENTION: {
        "keras.layers.MultiHeadAttention": ["keras.layers.MultiHeadAttention.call"],
        "keras.ops.dot_product_attention": ["keras.ops.dot_product_attention"],
    },
    GELU: {"keras.activations.gelu": ["keras.activations.gelu"]},
    LAYER_NORM: {"keras.layers.LayerNormalization": ["keras.layers.LayerNormalization.call"]},
    RMS_NORM: {"keras.layers.RMSNormalization": ["keras.layers.RMSNormalization.call"]},
}


def _of_mxnet(name):
    """Return the places of an operator of arrays and of symbols."""
    return ["mxnet.nd." + name, "mxnet.sym." + name]


FUNCTIONS = {
    "jax": {
        ATTENTION: {"jax.nn.dot_product_attention": ["jax.nn.dot_product_attention"]},
        GELU: {"jax.nn.gelu": ["jax.nn.gelu"]},
        LAYER_NORM: {"flax.nnx.LayerNorm": ["flax.nnx.LayerNorm.__call__"]},
        RMS_NORM: {"flax.nnx.RMSNorm": ["flax.nnx.RMSNorm.__call__"]},
        SILU: {"jax.nn.silu": ["jax.nn.silu"]},
    },
    "keras3": dict(KERAS, **{SILU: {"keras.activations.silu": ["keras.activations.silu"]}}),
    "mxnet": {
        ATTENTION: {
            "contrib.interleaved_matmul_selfatt": _of_mxnet("contrib.interleaved_matmul_selfatt_qk"),
            "contrib.interleaved_matmul_encdec": _of_mxnet("contrib.interleaved_matmul_encdec_qk"),
        },
        GELU: {"LeakyReLU (gelu)": _of_mxnet("LeakyReLU")},
        LAYER_NORM: {"LayerNorm": _of_mxnet("LayerNorm")},
    },
    "tensorflow": dict(KERAS, **{SILU: {"tensorflow.nn.silu": ["tensorflow.nn.silu"]}}),
    "torch": {
        ATTENTION: {
            "torch.nn.functional.scaled_dot_product_attention": ["torch.nn.functional.scaled_dot_product_attention"],
            "torch.nn.MultiheadAttention": ["torch.nn.MultiheadAttention.forward"],
        },
        GELU: {"torch.nn.GELU": ["torch.nn.GELU.forward"]},
        LAYER_NORM: {"torch.nn.LayerNorm": ["torch.nn.LayerNorm.forward"]},
        RMS_NORM: {"torch.nn.RMSNorm": ["torch.nn.RMSNorm.forward"]},
        SILU: {"torch.nn.SiLU": ["torch.nn.SiLU.forward"]},
    },
}
"""The functions that could compute each kind of layer in a builder, by the names it has for them, with their places."""


def holder_of(place):
    """Return the module or the class that holds the function of a place."""
    path = place.split(".")[:-1]
    found = importlib.import_module(path[0])
    for number, name in enumerate(path[1:], 2):
        if not hasattr(found, name):
            importlib.import_module(".".join(path[:number]))
        found = getattr(found, name)
    return found


def count(place, add):
    """Have a function call `add` whenever it is called."""
    holder, name = holder_of(place), place.rpartition(".")[2]
    function = getattr(holder, name)

    @functools.wraps(function)
    def counted(*given, **named):
        add()
        return function(*given, **named)

    setattr(holder, name, counted)


def calls_of(counts, work):
    """Return how often each function of each kind was called meanwhile, and what the work returns."""
    counts.clear()
    done = work()
    found = {}
    for (kind, name), number in counts.items():
        found.setdefault(kind, {})[name] = number
    return found, done


def main(builder_name, model_name, mode):
    """Count the calls of each phase, and return them with what the session says of itself."""
    counts = {}
    builder = importlib.import_module("benchmarks.frameworks." + builder_name)
    for kind, names in FUNCTIONS[builder_name].items():
        for name, places in names.items():
            key = (kind, name)
            for place in places:
                count(place.replace("keras.", "tensorflow.keras.") if builder_name == "tensorflow" else place,
                      lambda key=key: counts.update({key: counts.get(key, 0) + 1}))  # fmt: skip
    asked = {"cell": "one/session", "repeat": 0, "framework": builder_name, "builder": builder_name}
    asked.update(model=model_name, mode=mode, batch_size=4, threads=1)
    generation = {"generation": {"prompt": 4, "output": 3}} if mode == "generate" else {}
    model = importlib.import_module(model_name)
    workload = ModelWorkload(contract.request(dict(asked, **generation)), model, builder.OPTIONS)
    if mode == "infer":
        calls = {"step": calls_of(counts, lambda: _infer(builder, workload))}
        session = calls["step"][1]
    else:
        session = builder.generator(workload)
        calls = {"prompt": calls_of(counts, lambda: session.prefill(session.batches[0]))}
        calls["token"] = calls_of(counts, lambda: session.tokens(session.decode(calls["prompt"][1])))
    layers = {}
    for layer in workload.layers:
        layers[layer.kind] = layers.get(layer.kind, 0) + 1
    return {
        "calls": {phase: found for phase, (found, _) in calls.items()},
        "layers": layers,
        "operators": session.facts()["operators"],
    }


def _infer(builder, workload):
    session = builder.start(workload)
    session.synchronise(session.step(session.batches[0]))
    return session


sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
