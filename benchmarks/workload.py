"""The work that a framework builder builds, which is a recorded model, its data, its weights and its settings."""

import functools
import importlib
import importlib.util
import re
import time

from benchmarks import modes, own_models, sizes
from benchmarks.errors import BadRequest, Diverged, Failure, Unsupported
from benchmarks.inputs import datasets, kinds
from benchmarks.timing import generation
from benchmarks.vocabulary import counting, losses, optimizers, weights

_NAME = re.compile("[a-z][a-z0-9_]*")


def exists(package, name):
    """Return whether `benchmarks/<package>/<name>.py` exists, without running it."""
    spec = importlib.util.find_spec("benchmarks.%s.%s" % (package, name)) if _NAME.fullmatch(name) else None
    return spec is not None and spec.submodule_search_locations is None


def model_module(name, file=None):
    """Import a model of this image, or run a `file` from outside. Raises `BadRequest` if there is none."""
    if file is not None:
        return own_models.load(file, name)
    if not exists("models", name):
        raise BadRequest("there is no model '%s' in this image" % name)
    return importlib.import_module("benchmarks.models." + name)


def prepared(request):
    """Return what makes the work of a request from a builder's options: that of a model, or of an exported network."""
    if request.network is not None:
        from benchmarks.networks import NetworkWorkload

        return functools.partial(NetworkWorkload, request)
    return functools.partial(ModelWorkload, request, model_module(request.model, request.model_file))


class ModelWorkload:
    """One model in one mode. Data and weights are drawn only when a builder asks for them."""

    network = None

    def __init__(self, request, model, defaults):
        given = {} if hasattr(modes.named(request.mode), "AXES") else request.axes
        self.axes = sizes.resolved(model, given)
        recorded = own_models.record(model, given)
        self.inputs, self.layers = recorded.inputs, tuple(recorded.layers)
        self.loss = losses.known(getattr(model, "LOSS", losses.SOFTMAX_CROSS_ENTROPY))
        self._require_logits(request.model)
        self.data = datasets.named(request.dataset, model, request.seed, request.data, recorded.inputs)
        if request.batch_size > self.data.samples:
            message = "a batch of %d is more than the %d samples there are"
            raise BadRequest(message % (request.batch_size, self.data.samples))
        self.builder = request.builder
        self.training = modes.named(request.mode).TRAINS
        self.generation = generation.lengths(request.generation)
        self.batch_size = request.batch_size
        self.devices = max(1, request.gpus, request.cpu_devices)
        if self.training and request.batch_size % self.devices:
            message = "a batch of %d is not divided evenly by %d devices"
            raise BadRequest(message % (request.batch_size, self.devices))
        self.threads = request.threads
        self.gpus = request.gpus
        self.feed = request.feed
        self.workers = request.workers
        self.options = merge_options(defaults, request.options, request.builder)
        self.input_shape = recorded.input_shape
        # The tokens of a model that predicts the next one may be an axis of its sizes.
        self.classes = self.layers[-1].output_shape[-1] if self.axes else model.CLASSES
        # Of a file from outside alone, because the image identifies its own models.
        self.model_sha256 = getattr(model, "SHA256", None)
        # Of the framework's own definition, which sets it when it makes the session.
        self.definition_sha256 = None
        self.optimizer = optimizers.complete(model.OPTIMIZER)
        self.steps_per_epoch = self.data.samples // request.batch_size
        self.seed = request.seed
        self.data_s = 0.0
        self.batch_count = self.data.batch_count(request.batch_size, request.epochs)

    def _require_logits(self, name):
        try:
            losses.refuse_outputs(self.loss, self.inputs, self.layers[-1].output_shape)
        except ValueError as error:
            raise BadRequest("%s.py: %s" % (name, error)) from None

    def batches(self):
        """Yield the distinct batches as they are drawn, as (inputs, labels) in NumPy arrays, channels first.

        Inputs are one array, or of several inputs a tuple of them, and `sparse.Rows` for sparse ones. Labels are class
        numbers, or the targets of a loss that compares outputs with targets. The time from the first batch until the
        last one is placed goes to `data_s`.
        """
        begin = time.perf_counter()
        for inputs, labels in self.data.batches(self.batch_size, self.batch_count):
            yield inputs, losses.targets(self.loss, labels, self.classes)
        self.data_s += time.perf_counter() - begin

    def arrays(self):
        """Return inputs and labels of the distinct batches, and their order. The time it takes goes to `data_s`."""
        begin = time.perf_counter()
        arrays = self.data.arrays(self.batch_size, self.batch_count)
        self.data_s += time.perf_counter() - begin
        return arrays

    def weights(self):
        """Draw the initial weights, from parameter name to NumPy array in canonical layout."""
        return weights.initial(self.layers, self.seed)

    def zeros(self):
        """Return one sample of zeros, in the form of a batch's inputs."""
        arrays = tuple(kinds.zeros(each) for each in self.inputs)
        return arrays if len(arrays) > 1 else arrays[0]

    def counts(self):
        """Return the parameters of the model and its multiply-adds of a sample."""
        return {
            "parameters": counting.parameters(self.layers),
            "multiply_adds": counting.multiply_adds(self.layers),
        }

    def check_outputs(self, logits):
        """Raise a `Failure` unless the last logits are one finite value for each sample, or step of it, and class.

        A generation ends with logits of one step.
        """
        import numpy

        logits = numpy.asarray(logits)
        steps = () if self.generation else self.layers[-1].output_shape[:-1]
        expected = (self.batch_size,) + steps + (self.classes,)
        if logits.shape != expected:
            raise Failure("the last logits have the shape %s, not %s" % (logits.shape, expected))
        if not numpy.isfinite(logits).all():
            raise Diverged("the last logits are not all finite: what diverged is no measurement")

    def one_device(self):
        """Return whether to use the one GPU. Raises `Unsupported` if several devices are asked for."""
        if self.devices > 1:
            what = "training" if self.training else "inference"
            kind = "GPUs" if self.gpus else "CPU devices"
            raise Unsupported("this builder does %s on one device; %d %s are asked for" % (what, self.devices, kind))
        return self.gpus == 1


def merge_options(defaults, requested, builder):
    """Lay the requested options over a builder's defaults, which also fix their types."""
    for name, value in sorted(requested.items()):
        if name not in defaults:
            raise Unsupported("%s has no option '%s'" % (builder, name))
        if type(value) is not type(defaults[name]):
            kind = type(defaults[name]).__name__
            raise BadRequest("option '%s' of %s takes a %s, not %r" % (name, builder, kind, value))
    return dict(defaults, **requested)
