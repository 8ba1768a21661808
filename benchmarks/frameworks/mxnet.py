"""Apache MXNet 1.x through Gluon, with hybrid blocks and a Trainer, channels first.

With the precision `amp`, MXNet's own `contrib.amp` makes its operators compute in bfloat16.
"""

import os

import mxnet as mx
import numpy
from mxnet import autograd, gluon

from benchmarks import parallel
from benchmarks.errors import Unsupported
from benchmarks.inputs import feeds, sparse
from benchmarks.loaders.mxnet import GluonLoader
from benchmarks.native import LAYOUTS, PRECISIONS, alike, one_of, operators, parts, precision_fact, require_float32_rows
from benchmarks.native import mxnet as native
from benchmarks.native.decoding import mxnet as mxnet_decoding
from benchmarks.native.steps import mxnet as mxnet_steps
from benchmarks.native.transformers import mxnet as mxnet_transformer
from benchmarks.parallel import mxnet as several
from benchmarks.precision import TF32
from benchmarks.timing import generation
from benchmarks.vocabulary import features, graph

FEEDS = ("fed", "loader")
SEVERAL_DEVICES = True
OPTIONS = {"hybridize": True, "layout": "auto", "precision": "fp32"}
OFFERS = features.ALL - {"GRU without reset_after"}
_HAS_STATIC = tuple(int(part) for part in mx.__version__.split(".")[:2]) >= (1, 3)
STATIC = {"static_alloc": True, "static_shape": True} if _HAS_STATIC else {}
"""Settings of a graph whose memory is planned once. MXNet 1.2 compiles a graph and plans at every step."""


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    return _Session(workload)


def generator(workload):
    """Build the model with a cache of keys and values, and place its weights and prompts."""
    return _Generator(workload)


class _Session:
    short_blocks = False
    _in_use = None

    def __init__(self, workload):
        mx.random.seed(workload.seed)
        is_shared = workload.training and workload.devices > 1
        self._replicas = several.GluonReplicas(workload.gpus, workload.devices) if is_shared else None
        self._context = self._replicas.contexts[0] if is_shared else mx.gpu(0) if workload.one_device() else mx.cpu()
        self._workload = workload
        self._hybrid = workload.options["hybridize"]
        _require_channels_first(workload)
        self._mixed = _mixed(workload)
        self._layers, self._zeros = workload.layers, workload.zeros
        self._blocks = [native.make(layer) for layer in workload.layers]
        self._network = network = native.network(workload.layers, self._blocks)
        network.initialize(ctx=self._replicas.contexts if is_shared else self._context)
        native.set_weights(workload, self._blocks)
        if self._hybrid:
            network.hybridize(**STATIC)
            # The network's own graph holds all of it, and what `_walk` runs must not make more graphs.
            for block in self._blocks:
                block.hybridize(False)
        place = self._shared if is_shared else self._pair
        self.batches = feeds.batches(workload, place, GluonLoader(self._context))
        self.parameters = native.count(network)
        forward = (lambda inputs: network(*inputs)) if len(workload.inputs) > 1 else network
        forward = mxnet_steps.in_float32(forward) if self._mixed else forward
        self.step = (
            self._training_step(network, forward, workload)
            if workload.training
            else mxnet_steps.inference_step(forward)
        )
        mx.nd.waitall()

    def _pair(self, inputs, labels):
        return _native_pair(inputs, labels, self._context)

    def _shared(self, inputs, labels):
        """Place each context's part of a batch there."""
        return [
            _native_pair(*parallel.part(self._workload, inputs, labels, number), context)
            for number, context in enumerate(self._replicas.contexts)
        ]

    def _placed(self, array):
        return _native(array, self._context)

    def _training_step(self, network, forward, workload):
        # Gluon's loss of squares is half of them.
        squares = workload.loss == "mean_squared_error"
        if squares and mx.__version__.startswith("0."):
            raise Unsupported("the loss of squares of MXNet %s fails where it is hybridized" % mx.__version__)
        loss_of = gluon.loss.L2Loss(weight=2.0) if squares else gluon.loss.SoftmaxCrossEntropyLoss()
        if self._hybrid:
            loss_of.hybridize(**STATIC)
        terms = native.l2_terms(self._layers, self._blocks)
        loss_of = mxnet_steps.with_terms(loss_of, terms) if terms else loss_of
        name, settings = mxnet_steps.optimizer(workload.optimizer)
        if "sparse inputs" in features.needed(workload) and name in ("adam", "sgd"):
            # By default MXNet leaves a weight as it is where a batch has no entry, with all its momentum.
            settings["lazy_update"] = False
        trainer = gluon.Trainer(network.collect_params(), name, settings)
        batch_size = workload.batch_size
        if self._replicas:
            return self._replicas.training_step(forward, loss_of, trainer, batch_size)

        def step(batch):
            inputs, labels = batch
            with autograd.record():
                losses = loss_of(forward(inputs), labels)
            losses.backward()
            trainer.step(batch_size)
            return losses

        return step

    def network(self):
        """Return the block that computes logits, for MXNet's exporter."""
        return self._network

    @staticmethod
    def synchronise(handle):
        """Wait until the engine is idle.

        Old releases raise the error of a failed step only when its result is read.
        """
        mx.nd.waitall()
        for each in handle if isinstance(handle, list) else [handle]:
            each.wait_to_read()

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host."""
        return handle.asnumpy()

    def loss(self, handle):
        """Return the mean over the batch, because Gluon's loss is one value per sample."""
        if self._replicas:
            return self._replicas.loss(handle)
        return float(handle.asnumpy().astype("float64").mean())

    def weights(self):
        """Copy the weights to the host and into canonical layout."""
        return {
            parameter.name: native.canonical(layer, parameter, native_parameter)
            for layer, block in zip(self._layers, self._blocks)
            for parameter, native_parameter in zip(layer.parameters, native.parameters(layer, block))
        }

    def native_layers(self):
        """Return every layer, with the shape that its block yields for a sample of zeros."""
        yielded = self._walk(alike(self._zeros(), self._placed))
        return [
            (layer.name, value.shape[1:], native.count(block))
            for layer, block, value in zip(self._layers, self._blocks, yielded)
        ]

    def predict(self, inputs):
        """Walk the blocks one by one, which does not change what the training step has compiled and allocated."""
        with self._context:
            for value in self._walk(alike(inputs, self._placed)):
                logits = value
        return logits.astype("float32").asnumpy()

    def product(self, left, right):
        """Return the product of two NumPy matrices, multiplied as the steps multiply."""
        return mx.nd.dot(self._placed(left), self._placed(right)).astype("float32").asnumpy()

    def _walk(self, inputs):
        """Yield what each block yields, in evaluation mode."""
        walk, count = graph.places(self._layers)
        values = list(parts(inputs)) + [None] * (count - len(parts(inputs)))
        for block, (taken, target) in zip(self._blocks, walk):
            values[target] = block(*[values[place] for place in taken])
            yield values[target]

    def devices_in_use(self):
        """Return the device of a tensor that is computed as the steps are, for each device of the session."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = self._replicas.names() if self._replicas else [native.computed_on(self._context)]
        return self._in_use

    def device_in_use(self):
        """Return the first of them."""
        return self.devices_in_use()[0]

    def facts(self):
        """Return facts, with the threads that OpenMP reports in the library that MXNet itself is linked to."""
        facts = {
            "framework_version": mx.__version__,
            "layout": "channels_first",
            "precision": self._precision(),
            "tf32": os.environ.get("NVIDIA_TF32_OVERRIDE") != "0",
            "threads": openmp_threads(),
            "device": self.device_in_use(),
            "execution": _executed(self._hybrid),
            "libraries": _features(),
        }
        facts.update(operators(self._layers, mxnet_transformer.OPERATORS))
        if self._replicas is None:
            return facts
        names = self.devices_in_use()
        shared = parallel.facts(self._workload, names, several.AVERAGING, several.RUNNING_VALUES)
        return dict(facts, parallel=shared)

    def _precision(self):
        """Return the precision of a weight and of what its block yields."""
        pairs = zip(self._layers, self._blocks, self._walk(alike(self._zeros(), self._placed)))
        weight, value = next(
            (native.parameters(layer, block)[0], value) for layer, block, value in pairs if layer.parameters
        )
        return precision_fact(_dtype_name(weight.list_data()[0]), _dtype_name(value))

    @staticmethod
    def peak_device_bytes():
        """Return None, because MXNet records no highest use."""


class _Generator(_Session):
    """A session whose batches are prompts, and whose steps choose tokens."""

    def __init__(self, workload):
        super().__init__(workload)
        lengths = workload.generation
        self.batches = [mx.nd.slice_axis(inputs, axis=1, begin=0, end=lengths.prompt) for inputs, _ in self.batches]
        given = (self._layers, self._blocks, lengths, workload.batch_size, self._context)
        self._decoder = mxnet_decoding.GluonDecoder(*given)
        mx.nd.waitall()

    def prefill(self, prompt):
        """Begin anew with a prompt, and choose the token after it."""
        self._decoder.begin()
        return self._chosen(prompt)

    def decode(self, step):
        """Choose the token after that of a step."""
        return self._chosen(mx.nd.expand_dims(step.tokens, axis=1))

    def _chosen(self, tokens):
        logits = self._decoder(tokens)
        return generation.Step(mx.nd.argmax(logits, axis=-1), logits)

    @staticmethod
    def tokens(step):
        """Copy the tokens of a step to the host. MXNet has their numbers as floats."""
        return step.tokens.asnumpy().astype("int64")

    @staticmethod
    def logits(step):
        """Copy the logits of a step to the host."""
        return step.logits.asnumpy()

    def facts(self):
        """Return the facts of a session, whose steps run as they are issued, and whose attention keeps its keys."""
        own = operators(self._layers, mxnet_decoding.OPERATORS)
        return dict(super().facts(), execution=_executed(hybrid=False), **own)


def _native_pair(inputs, labels, context):
    return alike(inputs, lambda each: _native(each, context)), mx.nd.array(labels, context, dtype=labels.dtype)


def _native(array, context):
    if isinstance(array, sparse.Rows):
        return mx.nd.sparse.csr_matrix(array.csr(), shape=array.shape, ctx=context)
    return mx.nd.array(array, context, dtype=array.dtype)


def _executed(hybrid):
    if not hybrid:
        return "imperative"
    return "hybridized, static" if STATIC else "hybridized"


def _require_channels_first(workload):
    """Raise `Unsupported` if channels last are requested.

    Gluon's layers have a layout `NHWC`, but MXNet has kernels for it on GPUs alone, and not for all layers.
    """
    if one_of(workload.options, "layout", LAYOUTS) == "channels_last":
        raise Unsupported(
            "MXNet has convolutions for channels_last on some GPUs alone; this builder runs channels_first"
        )


def _mixed(workload):
    """Turn on bfloat16 in MXNet's operators if it is requested, and return whether it is.

    This comes before any block is made. MXNet replaces its operators in the whole process, which has one session.
    """
    precision = one_of(workload.options, "precision", PRECISIONS)
    if precision == "fp32":
        return False
    if precision == TF32:
        raise Unsupported("MXNet has no switch for tf32, which this builder forbids; fp32 runs")
    if precision == "bf16":
        raise Unsupported("MXNet %s makes no weights of bfloat16; amp computes in it" % mx.__version__)
    if workload.gpus:
        raise Unsupported("MXNet computes in bfloat16 on a CPU alone, through oneDNN")
    require_float32_rows(workload)
    recurrent = {"layer lstm", "layer gru"}.intersection(features.needed(workload))
    if recurrent:
        # amp leaves the fused LSTM in float32, and fails on its initial state where the network is hybridized.
        kind = sorted(recurrent)[-1].rpartition(" ")[2].upper()
        raise Unsupported("contrib.amp of MXNet %s has no %s in bfloat16" % (mx.__version__, kind))
    if "layer attention" in features.needed(workload):
        # amp casts one of the two operands of an interleaved operator.
        raise Unsupported("contrib.amp of MXNet %s has no attention in bfloat16" % mx.__version__)
    from mxnet.contrib import amp

    try:
        amp.init(target_dtype="bfloat16")
    except (AssertionError, AttributeError):
        raise Unsupported("contrib.amp of MXNet %s has no bfloat16; that of MXNet 1.9 has" % mx.__version__) from None
    if "layer conv2d" in features.needed(workload) and not _has_avx512():
        raise Unsupported("MXNet computes convolutions in bfloat16 with AVX-512 alone, which this CPU lacks")
    return True


def _has_avx512(path="/proc/cpuinfo"):
    """Return whether the CPU has the instructions that oneDNN needs, or True where the host does not say."""
    try:
        with open(path) as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return True
    return not flags or "avx512bw" in flags.split()


def _dtype_name(value):
    """Return the name of a data type. MXNet's bfloat16 is a structure to NumPy, with one field of that name."""
    kind = numpy.dtype(value.dtype)
    return kind.names[0] if kind.names else kind.name


def openmp_threads():
    """Return the threads that OpenMP reports in the library that MXNet itself is linked to, or None."""
    try:
        return int(mx.base._LIB.omp_get_max_threads())
    except AttributeError:
        return None


def _features():
    """Return the libraries that this build of MXNet computes with, or none before MXNet 1.5, which lists none."""
    try:
        from mxnet.runtime import Features
    except ImportError:
        return []
    wanted = ("MKLDNN", "BLAS_OPEN", "BLAS_MKL", "OPENMP", "CUDA", "CUDNN")
    features = Features()
    return [name for name in wanted if name in features and features.is_enabled(name)]
