"""Definitions of a model by the user for one framework.

A definition is a file whose `start` makes the session in place of the builder's.
"""

from benchmarks import own_models
from benchmarks.errors import BadRequest, CannotTrain, Failure, Unsupported
from benchmarks.inputs import feeds
from benchmarks.vocabulary import features, generating

UNTIMED = ("native_layers", "weights", "predict")
"""Methods that a session of a definition may lack, because only parity and accuracy call them."""


def maker(request, builder):
    """Return what makes the session, which is the definition that the request names, or else the builder."""
    return Definition(request, builder) if request.definition_file else builder


def start(maker, workload):
    """Start a session.

    Raises `Unsupported` with the names of the features that its maker lacks, or for more devices than it trains on.
    """
    if not getattr(maker, "SEVERAL_DEVICES", False):
        workload.one_device()
    if workload.devices > 1 and workload.feed != feeds.PLACED:
        raise Unsupported("the feed '%s' on several devices is not built yet; placed is" % workload.feed)
    missing = features.lacking(workload, maker)
    if features.TRAINING in missing:
        raise CannotTrain("%s lacks training%s" % (workload.builder, getattr(maker, "WHY_NO_TRAINING", "")))
    if missing:
        why = getattr(maker, "WHY_NO_LOADER", "") if "feed loader" in missing else ""
        raise Unsupported("%s lacks %s%s" % (workload.builder, ", ".join(missing), why))
    return maker.start(workload) if workload.generation is None else _generator(maker, workload)


def _generator(maker, workload):
    """Start what generates. Raises `Unsupported` if the model, or its maker, cannot."""
    unfit = generating.unfit(workload.layers)
    if unfit:
        raise Unsupported("the model cannot generate: %s" % unfit)
    too_long = generating.too_long(workload.layers, *workload.generation)
    if too_long:
        raise BadRequest(too_long)
    if not hasattr(maker, "generator"):
        raise Unsupported("%s lacks generation" % workload.builder)
    return maker.generator(workload)


def lacking(session):
    """Return the names of the methods that parity calls and a session lacks."""
    return [name for name in UNTIMED if not hasattr(session, name)]


class Definition:
    """A definition that has been run, with the interface of a builder.

    Raises `BadRequest` with the line of the file if it fails.
    """

    def __init__(self, request, builder):
        self._path = request.definition_file
        self._shown = "%s/%s.py" % (request.model, request.builder)
        name = "benchmarks.models.%s.%s" % (request.model, request.builder)
        self._module = own_models.run(self._path, name, self._shown)
        self._gpus = request.gpus
        self.OPTIONS = builder.OPTIONS
        self.OFFERS = getattr(self._module, "OFFERS", features.offered(builder))
        self.FEEDS = tuple(getattr(self._module, "FEEDS", ()))
        self._honoured = tuple(getattr(self._module, "OPTIONS", ()))
        unknown = sorted(set(self._honoured) - set(builder.OPTIONS))
        if unknown:
            raise BadRequest("%s: OPTIONS: %s has no option '%s'" % (self._shown, request.builder, unknown[0]))
        if not callable(getattr(self._module, "start", None)):
            raise BadRequest("%s: it has no function start(workload)" % self._shown)

    def start(self, workload):
        """Make the session.

        Raises `Unsupported` if an option is set that the definition does not know, or if nothing would show that a
        session with a GPU computes on it.
        """
        for name, value in sorted(workload.options.items()):
            if name not in self._honoured and value != self.OPTIONS[name]:
                raise Unsupported("the own definition %s has no option '%s'" % (self._shown, name))
        workload.definition_sha256 = self._module.SHA256
        try:
            session = self._module.start(workload)
        except Failure:
            raise
        except own_models.RAISED as error:
            raise BadRequest(own_models.placed(error, self._path, self._shown)) from error
        self._complete(session)
        return session

    def _complete(self, session):
        needed = ("batches", "step", "synchronise", "parameters", "loss", "fetch")
        missing = [name for name in needed if getattr(session, name, None) is None]
        if missing:
            raise BadRequest("%s: its session has no %s" % (self._shown, ", ".join(missing)))
        if self._gpus and not hasattr(session, "device_in_use"):
            message = "%s: on a GPU its session needs device_in_use(), the device of a tensor that it computes"
            raise Unsupported(message % self._shown)
        for name, default in (("short_blocks", False), ("peak_device_bytes", lambda: None), ("facts", dict)):
            if not hasattr(session, name):
                setattr(session, name, default)
