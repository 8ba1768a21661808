"""ONNX Runtime, which is given every model as an ONNX file and does inference."""

import os
import tempfile

import numpy
import onnxruntime
from onnx import load
from onnxruntime.capi import onnxruntime_pybind11_state as state

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.native import one_of, onnx, serving
from benchmarks.native.decoding import onnx as onnx_decoding
from benchmarks.vocabulary import features

OPTIONS = {"optimization": "all", "provider": "auto", "quantisation": "none", "export": "auto"}
OFFERS = (features.ALL | {features.NETWORKS}) - {features.TRAINING, "sparse inputs"}
WHY_NO_TRAINING = ": it runs models that are exported"
_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "none": "ORT_DISABLE_ALL",
}
_OPENVINO = "OpenVINOExecutionProvider"
_PROVIDERS = {"auto": (_OPENVINO, "CPUExecutionProvider"), "cpu": ("CPUExecutionProvider",), "openvino": (_OPENVINO,)}
"""Providers of each value, the first that the package brings counts."""
FIRST_STATIC = (1, 11)
"""1.7 computes a statically quantised file in float32, and 1.8 to 1.10 its dense layers."""
_REFUSALS = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented", "RuntimeException")
"""Errors of a file. A kernel that takes no such attribute ends with a `RuntimeException` in old releases (1.7)."""


def start(workload):
    """Write the file of the model, its quantised form (`quantised_onnx`) or that of an exporter, and compile it.

    A network is compiled from its own file.
    """
    return serving.session(workload, _Engine(workload))


def generator(workload):
    """Write the file of the model that takes keys and values (`onnx_decoding`), and compile it."""
    return serving.generator(workload, _Engine(workload))


class _Engine:
    ERRORS = tuple(getattr(state, name) for name in _REFUSALS)

    def __init__(self, workload):
        _require_whole_numbers(quantisation.asked(workload.options))
        self._level = _LEVELS[one_of(workload.options, "optimization", _LEVELS)]
        self._threads = workload.threads
        self._provider = self._chosen(one_of(workload.options, "provider", _PROVIDERS))

    @staticmethod
    def _chosen(asked):
        brought = onnxruntime.get_available_providers()
        chosen = next((each for each in _PROVIDERS[asked] if each in brought), None)
        if chosen is None:
            raise Unsupported("this package brings no provider '%s'; onnxruntime-openvino does" % asked)
        return chosen

    def _settings(self):
        """Return the settings of the provider. OpenVINO computes in bfloat16 on some CPUs if it is left to itself."""
        if self._provider != _OPENVINO:
            return {}
        settings = {"device_type": "CPU", "precision": "FP32"}
        return dict(settings, num_of_threads=str(self._threads)) if self._threads else settings

    def opened(self, file, fixed=None):
        """Compile a file."""
        session = self._session(file, fixed)
        names = [each.name for each in session.get_outputs()]
        return lambda fed: session.run(names, fed)

    def stepping(self, file, held, batch_size):
        """Compile a file that takes keys and values, which stay where the engine has put them."""
        return _Steps(self._session(file), held, batch_size)

    @staticmethod
    def kept(array):
        """Return an array as a value of the engine, which shares its memory."""
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)

    @staticmethod
    def array(value):
        """Copy a value of the engine."""
        return value.numpy()

    def nodes(self, file):
        """Return the kind of each node of the graph that ONNX Runtime makes of a file, as it writes it.

        OpenVINO's provider compiles parts of the graph, which are not written.
        """
        if self._provider == _OPENVINO:
            return None
        with tempfile.TemporaryDirectory() as folder:
            settings = self._options()
            settings.optimized_model_filepath = os.path.join(folder, "optimised.onnx")
            settings.log_severity_level = 3  # it warns that such a file is for this CPU alone
            try:
                onnxruntime.InferenceSession(file, settings, providers=[self._provider])
            except self.ERRORS + (RuntimeError,):  # as on a full disk, without which the measurement counts
                return None
            return [each.op_type for each in load(settings.optimized_model_filepath).graph.node]

    def _options(self):
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, self._level)
        settings.intra_op_num_threads = self._threads or 0
        settings.inter_op_num_threads = 1
        return settings

    def _session(self, file, fixed=None):
        settings = self._options()
        for name, size in fixed.axes.items() if fixed else ():
            settings.add_free_dimension_override_by_name(name, size)
        session = onnxruntime.InferenceSession(file, settings, providers=[(self._provider, self._settings())])
        self._providers = session.get_providers()
        if self._providers[0] != self._provider:
            raise Unsupported("ONNX Runtime went on without %s" % self._provider)
        return session

    def facts(self, kind):
        """Return the facts that ONNX Runtime reports, with the type of its outputs."""
        return {
            "framework_version": onnxruntime.__version__,
            "precision": kind,
            "threads": self._threads,
            "execution": ", ".join(self._providers),
        }


class _Steps:
    """The steps of a decoder, bound to the keys and values that the step before has yielded."""

    def __init__(self, session, held, batch_size):
        self._session, self._binding = session, session.io_binding()
        self._past = [past for past, _, _ in held]
        shapes = [(batch_size, heads, 0, size) for _, _, (heads, size) in held]
        self._empty = [_Engine.kept(numpy.zeros(shape, "float32")) for shape in shapes]
        self._yielded = [onnx_decoding.CHOSEN, onnx.OUTPUT] + [present for _, present, _ in held]
        self._values = self._empty

    def __call__(self, tokens, position):
        """Return the token after some tokens, and its logits."""
        binding = self._binding
        values = self._values if position.numpy()[0] else self._empty
        binding.bind_ortvalue_input(onnx_decoding.TOKENS, tokens)
        binding.bind_ortvalue_input(onnx_decoding.POSITION, position)
        for name, value in zip(self._past, values):
            binding.bind_ortvalue_input(name, value)
        for name in self._yielded:  # anew each time, as an output that is bound has the shape that it once had
            binding.bind_output(name, "cpu")
        self._session.run_with_iobinding(binding)
        chosen, logits, *self._values = binding.get_outputs()
        return chosen, logits


def _require_whole_numbers(kind):
    """Raise `Unsupported` for a kind of quantisation that this release computes in float32."""
    release = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    if kind == quantisation.STATIC and release < FIRST_STATIC:
        message = "ONNX Runtime before %d.%d computes dense layers of such a file in float32; here is %s"
        raise Unsupported(message % (FIRST_STATIC + (onnxruntime.__version__,)))
