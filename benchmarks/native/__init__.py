"""Native layers of frameworks that build graphs and have several precisions: one module each, used by its builder."""

from benchmarks.errors import BadRequest

LAYOUTS = ("auto", "channels_last", "channels_first")
PRECISIONS = ("fp32", "bf16", "amp")


def one_of(options, name, values):
    """The value of an option that names one of several; raises `BadRequest` for any other."""
    if options[name] not in values:
        raise BadRequest("option '%s' is one of %s, not '%s'" % (name, ", ".join(values), options[name]))
    return options[name]


def precision_fact(weights, compute):
    """Say which precision is in force, from the names of two data types that the framework was asked for."""
    return weights if weights == compute else "%s with %s weights" % (compute, weights)
