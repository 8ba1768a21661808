"""Sessions of serving engines, which are given an ONNX file and do inference alone.

An engine has `opened(file, fixed)`, which returns a function from inputs by name to a list of outputs, as NumPy arrays
in the order of the file. It also has `facts(kind)`, and `ERRORS`, by which it refuses a file. A file is the bytes of
what we write of a model, or the path of a network of the user's own, whose dynamic axes get the sizes of `fixed`.
`nodes(file)` compiles such bytes anew, and returns the name of the kind of each node that the engine makes of them, or
None if it does not tell.

An engine that generates also has `stepping(file, held, batch_size)`, which returns a function from the next tokens and
the position of the first of them to the token that follows and its logits, both as the engine has them. It keeps the
keys and values that it yields for the next call, and begins anew at the position 0. `kept(array)` brings an array to
where such a function takes it, and `array(value)` brings a value back into NumPy.
"""

import hashlib
from collections import namedtuple

import numpy

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.native import exported, onnx, parts, refusals
from benchmarks.native.decoding import onnx as onnx_decoding
from benchmarks.native.quantised import onnx as quantised_onnx
from benchmarks.timing import generation
from benchmarks.vocabulary import counting

_KINDS = {"float": "float32", "integer": "int64"}
LARGEST_COUNTED = 32 * 2**20
"""Bytes of a file whose nodes are counted. It is compiled once more for that, and ONNX Runtime writes it to a disk."""

Fixed = namedtuple("Fixed", "axes shapes")
Fixed.__doc__ = """The sizes of a network's dynamic axes by their names, and the shapes of its inputs by theirs."""


def session(workload, engine):
    """Return the session of a model or a network in an engine.

    Raises `Unsupported` for a GPU or several devices, and for a network that the engine refuses, such as one of an
    opset that it does not know.
    """
    if workload.one_device():
        raise Unsupported("this builder computes on a CPU alone")
    exporter = exported.exporter_of(workload)
    if workload.network:
        return _of_others(_NetworkSession, workload, engine)
    if quantisation.asked(workload.options) != quantisation.NONE:
        if exporter:
            raise Unsupported("what is quantised is the file of the recorded layers; set export: recorded")
        return _QuantisedSession(workload, engine)
    return _of_others(_ExportedSession, workload, engine, exporter) if exporter else _ModelSession(workload, engine)


def _of_others(kind, workload, engine, *more):
    """Start a session of a file that others wrote. Raises `Unsupported` if the engine refuses it."""
    try:
        return kind(workload, engine, *more)
    except engine.ERRORS as error:
        if refusals.is_of_memory(error):
            raise
        raise Unsupported("this release cannot run the network: %s" % refusals.reason(error)) from error


def generator(workload, engine):
    """Return what generates by a model in an engine.

    Raises `Unsupported` for a GPU, for quantised layers and for the file of another exporter.
    """
    if workload.one_device():
        raise Unsupported("this builder computes on a CPU alone")
    if quantisation.asked(workload.options) != quantisation.NONE:
        raise Unsupported("generation with quantised layers is not built yet; quantisation: none is")
    if exported.exporter_of(workload):
        raise Unsupported("what generates is the file of the recorded layers; set export: recorded")
    return _Generator(workload, engine)


def _described(content, engine):
    """Return the facts of a file that we write, with the nodes that an engine makes of it, by their kinds."""
    facts = {"opset": onnx.opset_of(content), "sha256": hashlib.sha256(content).hexdigest()}
    kinds = engine.nodes(content) if len(content) <= LARGEST_COUNTED else None
    return facts if kinds is None else dict(facts, nodes={kind: kinds.count(kind) for kind in sorted(set(kinds))})


class _Session:
    """The common part of sessions of models and of networks. Every step is synchronous."""

    short_blocks = False

    def __init__(self, workload, engine):
        self._workload, self._engine = workload, engine

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing, because every step is synchronous."""

    @staticmethod
    def fetch(handle):
        """Return the outputs, which are in the host's memory."""
        return handle

    @staticmethod
    def peak_device_bytes():
        """Return None, because there is no device."""


class _ModelSession(_Session):
    """A session of a model of the vocabulary, whose file we write. Its one output are the logits."""

    def __init__(self, workload, engine):
        super().__init__(workload, engine)
        self._content = self._served(workload.batch_size)
        self._run = engine.opened(self._content)
        self._by_size = {workload.batch_size: self._run}
        self.batches = [self._fed(inputs) for inputs, _ in workload.batches()]
        self.parameters = sum(array.size for array in self.weights().values())

    def _file(self, batch_size, yielded=False):
        workload = self._workload
        return onnx.file(workload.layers, workload.inputs, workload.weights(), batch_size, yielded=yielded)

    def _served(self, batch_size):
        """Return the file that the engine is given."""
        return self._file(batch_size)

    def _fed(self, inputs):
        """Return the inputs of a batch by name, as an engine takes them without a copy."""
        given = zip(self._workload.inputs, parts(inputs))
        return {each.name: numpy.ascontiguousarray(array, _KINDS[each.kind]) for each, array in given}

    def step(self, batch):
        """Return the logits of a batch."""
        return self._run(batch)[0]

    def weights(self):
        """Return the weights in the file, in canonical layout."""
        return onnx.weights(self._content, self._workload.layers)

    def native_layers(self):
        """Return the name, the output shape and the number of weights of every layer.

        The shapes are those of what the engine yields, when each layer of the file is an output.
        """
        yielded = self._engine.opened(self._file(1, yielded=True))(self._fed(self._workload.zeros()))
        return [
            (layer.name, tuple(output.shape[1:]), counting.parameters([layer]))
            for layer, output in zip(self._workload.layers, yielded)
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch. A file has one batch size, so that each new one is compiled once."""
        fed = self._fed(inputs)
        size = len(next(iter(fed.values())))
        if size not in self._by_size:
            self._by_size[size] = self._engine.opened(self._served(size))
        return self._by_size[size](fed)[0]

    def facts(self):
        """Return the facts of the engine, of the file, and of the logits that it yields."""
        kind = self.step(self.batches[0]).dtype.name
        own = {"layout": "channels_first", "device": "cpu", "onnx": _described(self._content, self._engine)}
        return dict(own, **self._engine.facts(kind))


class _ExportedSession(_ModelSession):
    """A session of a model's file by a framework's own exporter, which has one batch size as ours has."""

    def __init__(self, workload, engine, exporter):
        self._exporter = exporter
        super().__init__(workload, engine)

    def _served(self, batch_size):
        self._exported = exported.exported(self._exporter, self._workload, batch_size)
        return self._exported.content

    def _fed(self, inputs):
        """Return the inputs of a batch as the file has them: their names, types and order of an image's values."""
        given = [
            array.transpose(0, 2, 3, 1) if self._exported.channels_last and array.ndim == 4 else array
            for array in parts(inputs)
        ]
        pairs = zip(self._exported.inputs, given)
        return {name: numpy.ascontiguousarray(array, kind) for (name, kind), array in pairs}

    def weights(self):
        """Return the weights that the framework had when it exported, in canonical layout."""
        return self._exported.weights

    def native_layers(self):
        """Return the name, the output shape and the number of weights of every layer of the framework."""
        return self._exported.layers

    def facts(self):
        """Return the facts of the engine and of the file, with its exporter."""
        facts = super().facts()
        layout = "channels_last" if self._exported.channels_last else "channels_first"
        return dict(facts, layout=layout, onnx=dict(facts["onnx"], exporter=self._exported.exporter))


class _Generator(_ModelSession):
    """A session whose batches are prompts, and whose one file takes prompts and single tokens."""

    def __init__(self, workload, engine):
        self._workload, self._engine, self._by_size = workload, engine, {}
        self._prompt = workload.generation.prompt
        self._content = onnx_decoding.file(workload.layers, workload.weights(), workload.batch_size)
        self._run = engine.stepping(self._content, onnx_decoding.held(workload.layers), workload.batch_size)
        prompts = (inputs[:, : self._prompt] for inputs, _ in workload.batches())
        self.batches = [engine.kept(numpy.ascontiguousarray(each, "int64")) for each in prompts]
        self._positions = [engine.kept(numpy.array([each], "int64")) for each in range(sum(workload.generation))]
        self._position = 0
        self.parameters = sum(array.size for array in self.weights().values())

    def prefill(self, prompt):
        """Begin anew with a prompt, and choose the token after it."""
        self._position = self._prompt
        return generation.Step(*self._run(prompt, self._positions[0]))

    def decode(self, step):
        """Choose the token after that of a step."""
        chosen = self._run(step.tokens, self._positions[self._position])
        self._position += 1
        return generation.Step(*chosen)

    def tokens(self, step):
        """Return the tokens of a step, which is synchronous."""
        return self._engine.array(step.tokens)[:, 0]

    def logits(self, step):
        """Return the logits of a step."""
        return self._engine.array(step.logits)

    def facts(self):
        """Return the facts of the engine, of the file, and of the logits that it yields."""
        kind = self.logits(self.prefill(self.batches[0])).dtype.name
        own = {"layout": "channels_first", "device": "cpu", "onnx": _described(self._content, self._engine)}
        return dict(own, **self._engine.facts(kind))


class _QuantisedSession(_ModelSession):
    """A session of the quantised file of a model. Layers and weights are those of the file that it is made from."""

    def __init__(self, workload, engine):
        quantisation.covered(workload)  # raises for what cannot be quantised
        self._ranges = None
        super().__init__(workload, engine)

    def _served(self, batch_size):
        content = self._file(batch_size)
        if quantisation.asked(self._workload.options) == quantisation.DYNAMIC:
            return quantised_onnx.dynamic(content)
        if self._ranges is None:
            self._ranges = self._calibrated()
        return quantised_onnx.static(quantised_onnx.folded(content), self._ranges)

    def _calibrated(self):
        """Return the least and the largest of values in the calibration batches, as the engine computes in float32."""
        batches = [self._fed(inputs) for inputs in quantisation.calibration(self._workload)]
        size = len(next(iter(batches[0].values())))
        content, names = quantised_onnx.watched(quantised_onnx.folded(self._file(size)))
        run = self._engine.opened(content)
        ends = numpy.array([[float(end) for end in run(batch)] for batch in batches])
        return dict(zip(names, zip(ends[:, ::2].min(axis=0), ends[:, 1::2].max(axis=0))))

    def weights(self):
        """Return the weights that were quantised, in canonical layout."""
        return onnx.weights(self._file(self._workload.batch_size), self._workload.layers)

    def facts(self):
        """Return the facts of the engine and of the quantised file, and what is quantised."""
        return dict(super().facts(), **quantisation.facts(self._workload, "operators of the ONNX file"))


class _NetworkSession(_Session):
    """A session of a network of the user's own, whose file the engine reads itself."""

    def __init__(self, workload, engine):
        super().__init__(workload, engine)
        asked, size = workload.network, workload.batch_size
        axes = dict(asked["dimensions"], **({asked["batch"]: size} if asked["batch"] else {}))
        self.step = engine.opened(workload.path, Fixed(axes, {each.name: each.shape(size) for each in workload.inputs}))
        self.batches = [dict(zip([each.name for each in workload.inputs], inputs)) for inputs, _ in workload.batches()]
        self.parameters = workload.counts()["parameters"]

    def facts(self):
        """Return the facts of the engine, of the file, and of its first output."""
        kind = self.step(self.batches[0])[0].dtype.name
        # The file is read here, once memory was measured, as reading takes more of it than some engines.
        file = dict(onnx.described(self._workload.path), sha256=self._workload.model_sha256)
        return dict({"layout": None, "device": "cpu", "onnx": file}, **self._engine.facts(kind))
