"""Quantisation after training, which computes a model's products and convolutions in whole numbers of 8 bits.

`dynamic` quantises the weights of dense layers, LSTMs and attention beforehand, and their inputs anew in each step.
`static` also quantises what lies between layers, by ranges that calibration batches show beforehand. These batches are
the same in every engine. A quantised model is an approximation and never the same work as the model in float32.
"""

from benchmarks.errors import BadRequest, Unsupported
from benchmarks.vocabulary import losses

OPTION = "quantisation"
NONE, DYNAMIC, STATIC = KINDS = ("none", "dynamic", "static")
BATCH_SIZE, BATCHES = 32, 4
"""The size and the number of calibration batches, whatever the batch size of the cell."""
LAYERS = {
    DYNAMIC: ("dense", "lstm", "attention"),
    STATIC: ("conv2d", "separable_conv2d", "dense"),
}
"""The kinds of layers with weights that each kind of quantisation covers, in every engine."""


def asked(options):
    """Return the kind of quantisation that options ask for. Raises `BadRequest` for an unknown one."""
    kind = options.get(OPTION, NONE)
    if kind not in KINDS:
        raise BadRequest("option '%s' is one of %s, not '%s'" % (OPTION, ", ".join(KINDS), kind))
    return kind


def covered(workload):
    """Return the names of the layers that are quantised.

    Raises `Unsupported` for training, for a network of the user's own, for a decoder, for static attention, and for a
    model without such layers.
    """
    kind = asked(workload.options)
    if workload.training:
        raise Unsupported("a quantised model does inference alone; quantisation: none trains")
    if workload.network:
        raise Unsupported("a network of your own is measured as its file is; quantise the file, and set it to none")
    if workload.loss == losses.NEXT_TOKEN:
        raise Unsupported("a decoder has no class of a whole sample, by which quantisation is checked; set it to none")
    if kind == STATIC and any(layer.kind == "attention" for layer in workload.layers):
        raise Unsupported("static ranges change too many classes of a model with attention; quantisation: dynamic runs")
    names = [layer.name for layer in workload.layers if _inner(layer) in LAYERS[kind]]
    if not names:
        raise Unsupported("%s quantisation covers %s, which the model lacks" % (kind, ", ".join(LAYERS[kind])))
    return names


def _inner(layer):
    return layer.settings["layer"].kind if layer.kind == "time_distributed" else layer.kind


def calibration(workload):
    """Yield the inputs of the calibration batches, which are the first training samples of the workload's data."""
    size = min(BATCH_SIZE, workload.data.samples)
    for inputs, _ in workload.data.batches(size, min(BATCHES, workload.data.samples // size)):
        yield inputs


def facts(workload, engine):
    """Return the precision, and what is quantised by what. `engine` names the kernels or the format."""
    kind = asked(workload.options)
    found = {"kind": kind, "engine": engine, "layers": covered(workload)}
    if kind == STATIC:
        size = min(BATCH_SIZE, workload.data.samples)
        batches = min(BATCHES, workload.data.samples // size)
        found["calibration"] = {"batches": batches, "batch_size": size, "seed": workload.seed}
    return {"precision": "int8 %s" % kind, OPTION: found}
