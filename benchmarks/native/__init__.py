"""Native layers of frameworks that build graphs and have several precisions.

Each module is used by the builder of its name.
"""

from benchmarks.errors import BadRequest, Unsupported

LAYOUTS = ("auto", "channels_last", "channels_first")
PRECISIONS = ("fp32", "tf32", "bf16", "amp")
IN_FLOAT32 = ("fp32", "tf32")
"""Precisions whose values are float32, also where a GPU rounds them to multiply."""


def one_of(options, name, values):
    """Return the value of an option that names one of several. Raises `BadRequest` for any other value."""
    if options[name] not in values:
        raise BadRequest("option '%s' is one of %s, not '%s'" % (name, ", ".join(values), options[name]))
    return options[name]


def require_float32_rows(workload):
    """Raise `Unsupported` if sparse rows are to be multiplied in another precision than float32."""
    precision = workload.options["precision"]
    if precision != "fp32" and any(each.kind == "sparse" for each in workload.inputs):
        raise Unsupported("sparse inputs are float32 alone, not %s; set precision: fp32" % precision)


def precision_fact(weights, compute):
    """Return the precision in force, from the names of two data types that the framework reports."""
    return weights if weights == compute else "%s with %s weights" % (compute, weights)


def operators(layers, names):
    """Return the fact of which operator of the framework computes each kind of layer that `names` has, if any does."""
    found = {kind: names[kind] for kind in sorted({layer.kind for layer in layers}) if kind in names}
    return {"operators": found} if found else {}


def parts(inputs):
    """Return the inputs of a batch as a tuple, one for each input of the model."""
    return inputs if isinstance(inputs, tuple) else (inputs,)


def alike(inputs, function):
    """Return the inputs of a batch with a function applied to each, as one value or a tuple as they were."""
    return tuple(function(each) for each in inputs) if isinstance(inputs, tuple) else function(inputs)
