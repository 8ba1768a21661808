"""The features that a model may need of a framework.

They are inputs, loss, optimizer, layers and training itself, and this is the one place that knows them. A builder has
those of `COMMON`, or names its own as `OFFERS`. A model that needs another feature is `unsupported` in it. To add a
feature, let `needed` name it, and add it to what the builders offer that have it. `COMMON` stays, because every other
builder is held to it.
"""

LOSS = "softmax_cross_entropy"
"""The loss of a model that names none, the mean softmax cross-entropy of its logits."""
TRAINING = "training"
COMMON = frozenset(
    [TRAINING, "loss " + LOSS]
    + ["optimizer " + name for name in ("adam", "rmsprop", "sgd")]
    + ["layer " + kind for kind in ("add", "average_pool", "batch_norm", "conv2d", "dense", "dropout", "flatten")]
    + ["layer " + kind for kind in ("global_average_pool", "lstm", "max_pool", "relu")]
)


def needed(workload):
    """Return the names of the features that a workload needs, each once."""
    names = [TRAINING] if workload.training else []
    names += ["several inputs"] if len(workload.inputs) > 1 else []
    names += ["integer inputs"] if any(each.kind == "integer" for each in workload.inputs) else []
    if workload.training:
        names += ["loss " + workload.loss, "optimizer " + workload.optimizer["name"]]
    return names + sorted({"layer " + layer.kind for layer in workload.layers})


def offered(builder):
    """Return the features that a builder has."""
    return frozenset(getattr(builder, "OFFERS", COMMON))


def lacking(workload, builder):
    """Return the names of the features that a workload needs and a builder lacks, in the order of `needed`."""
    return [name for name in needed(workload) if name not in offered(builder)]
