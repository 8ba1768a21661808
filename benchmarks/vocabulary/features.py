"""The features that a model may need of a framework.

They are inputs, loss, optimizer, layers and training itself, and this is the one place that knows them. A builder has
those of `COMMON`, or names its own as `OFFERS`. A model that needs another feature is `unsupported` in it. To add a
feature, let `needed` name it, and add it to what the builders offer that have it. `COMMON` stays, because every other
builder is held to it.
"""

from benchmarks.inputs import feeds
from benchmarks.vocabulary import losses

TRAINING = "training"
NETWORKS = "ONNX files"
COMMON = frozenset(
    [TRAINING, "loss " + losses.SOFTMAX_CROSS_ENTROPY]
    + ["optimizer " + name for name in ("adam", "rmsprop", "sgd")]
    + ["layer " + kind for kind in ("add", "average_pool", "batch_norm", "conv2d", "dense", "dropout", "flatten")]
    + ["layer " + kind for kind in ("global_average_pool", "lstm", "max_pool", "relu")]
)
TRANSFORMERS = frozenset(
    ["layer " + kind for kind in ("attention", "first_step", "gelu", "layer_norm", "multiply", "positions", "rms_norm")]
    + ["layer silu", "causal attention", "grouped heads", "rotary positions"]
    + ["dense of steps", "dense without bias", "loss next_token"]
)
"""Features of networks of attention. No older framework has all of them."""
ALL = (
    COMMON
    | TRANSFORMERS
    | frozenset(
        ["several inputs", "integer inputs", "sparse inputs", "loss mean_squared_error", "L2 terms", "explicit pads"]
        + ["padded pools"]
        + ["optimizer adadelta", "learning-rate decay"]
        + ["layer " + kind for kind in ("concatenate", "embedding", "gru", "repeat", "separable_conv2d", "sigmoid")]
        + ["layer " + kind for kind in ("softmax", "tanh", "time_distributed")]
        + ["GRU without reset_after", "bidirectional LSTM"]
    )
)
"""Everything that the vocabulary has."""


def needed(workload):
    """Return the names of the features that a workload needs, each once."""
    names = [TRAINING] if workload.training else []
    names += [NETWORKS] if getattr(workload, "network", None) else []
    names += ["several inputs"] if len(workload.inputs) > 1 else []
    for kind in ("integer", "sparse"):
        names += [kind + " inputs"] if any(each.kind == kind for each in workload.inputs) else []
    if workload.training:
        names += ["loss " + workload.loss, "optimizer " + workload.optimizer["name"]]
        names += ["learning-rate decay"] if workload.optimizer.get("decay") else []
        names += ["L2 terms"] if any(layer.settings.get("l2") for layer in workload.layers) else []
    names += ["feed " + workload.feed] if workload.feed != feeds.PLACED else []
    return names + sorted({name for layer in workload.layers for name in _of_layer(layer)})


def _of_layer(layer):
    yield "layer " + layer.kind
    if layer.kind == "time_distributed":
        yield "layer " + layer.settings["layer"].kind
    for name, is_set in _settings_of(layer):
        if is_set:
            yield name


def _settings_of(layer):
    """Yield each feature that settings of a layer may ask for, and whether they do."""
    settings = layer.settings
    yield "explicit pads", settings.get("explicit")
    if layer.kind == "dense":
        yield "dense of steps", len(layer.input_shape) == 2
        yield "dense without bias", not settings["bias"]
    elif layer.kind == "attention":
        yield "causal attention", settings["causal"]
        yield "grouped heads", settings["heads"] != settings["key_value_heads"]
        yield "rotary positions", settings["rotary"]
    elif layer.kind == "gru":
        yield "GRU without reset_after", not settings["reset_after"]
    elif layer.kind == "lstm":
        yield "bidirectional LSTM", settings["bidirectional"]
    elif layer.kind == "max_pool":
        yield "padded pools", any(settings["pads"])


def offered(builder):
    """Return the features that a builder has, the feeds that it names as `FEEDS` among them."""
    fed = ["feed " + name for name in getattr(builder, "FEEDS", ())]
    return frozenset(getattr(builder, "OFFERS", COMMON)).union(fed)


def lacking(workload, builder):
    """Return the names of the features that a workload needs and a builder lacks, in the order of `needed`."""
    return [name for name in needed(workload) if name not in offered(builder)]
