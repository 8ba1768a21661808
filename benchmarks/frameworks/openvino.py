"""OpenVINO, which is given every model as an ONNX file and does inference."""

try:
    import openvino
    from openvino import Core
except ImportError:  # before 2023.1
    import openvino.runtime as openvino
    from openvino.runtime import Core

import numpy

from benchmarks import quantisation
from benchmarks.errors import Unsupported
from benchmarks.native import one_of, onnx, precision_fact, serving
from benchmarks.native.decoding import onnx as onnx_decoding
from benchmarks.vocabulary import features

OPTIONS = {"precision": "fp32", "hint": "latency", "quantisation": "none", "export": "auto"}
OFFERS = (features.ALL | {features.NETWORKS}) - {features.TRAINING, "sparse inputs"}
WHY_NO_TRAINING = ": it runs models that are exported"
_PRECISIONS = {"fp32": "f32", "amp": "bf16"}
FIRST_QUANTISED = (2022, 3)
"""2022.1.0 ends LeNet with an illegal instruction, and 2022.2.0 has wrong logits of ResNet20 (2.3 of their norm)."""
FIRST_GENERATING = (2024, 6)
"""2022.1.0 and 2023.2.0 take no tensor without elements, with which a prompt begins; 2024.6.0 does."""
_HINTS = {"latency": "LATENCY", "throughput": "THROUGHPUT"}


def start(workload):
    """Write the file of the model, its quantised form (`quantised_onnx`) or that of an exporter, and compile it.

    A network is compiled from its own file.
    """
    return serving.session(workload, _Engine(workload))


def generator(workload):
    """Write the file of the model that takes keys and values (`onnx_decoding`), and compile it."""
    if _release() < FIRST_GENERATING:
        message = "OpenVINO %d.%d and newer take keys and values of no steps; here is %s"
        raise Unsupported(message % (FIRST_GENERATING + (_version(),)))
    return serving.generator(workload, _Engine(workload))


class _Engine:
    ERRORS = (RuntimeError,)

    def __init__(self, workload):
        self._core = Core()
        self._precision = one_of(workload.options, "precision", _PRECISIONS)
        if self._precision == "amp" and "BF16" not in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            raise Unsupported("OpenVINO computes in bfloat16 on a CPU that can; this one cannot")
        _require_together(quantisation.asked(workload.options), self._precision)
        # Left to itself it computes in bfloat16 where the CPU can. The first releases take text alone.
        self._settings = {
            "INFERENCE_PRECISION_HINT": _PRECISIONS[self._precision],
            "PERFORMANCE_HINT": _HINTS[one_of(workload.options, "hint", _HINTS)],
        }
        if workload.threads:
            self._settings["INFERENCE_NUM_THREADS"] = str(workload.threads)

    def opened(self, file, fixed=None):
        """Compile a file."""
        model = self._core.read_model(file)
        if fixed:
            model.reshape({name: openvino.PartialShape(list(shape)) for name, shape in fixed.shapes.items()})
        self._model = compiled = self._core.compile_model(model, "CPU", self._settings)
        outputs = list(compiled.outputs)

        def run(fed):
            results = compiled(fed)
            return [results[each] for each in outputs]

        return run

    def stepping(self, file, held, batch_size):
        """Compile a file that takes keys and values, which stay where the engine has put them."""
        self._model = self._core.compile_model(self._core.read_model(file), "CPU", self._settings)
        return _Steps(self._model, held, batch_size)

    def nodes(self, file):
        """Return the kind of each node of the graph that OpenVINO executes, or None of a release that does not tell."""
        compiled = self._core.compile_model(self._core.read_model(file), "CPU", self._settings)
        try:
            kinds = [each.get_rt_info()["layerType"] for each in compiled.get_runtime_model().get_ops()]
            return [each if isinstance(each, str) else each.get() for each in kinds]  # texts until 2022.3
        except (AttributeError, RuntimeError):
            return None

    @staticmethod
    def kept(array):
        """Return an array as a tensor of the engine, which shares its memory."""
        return openvino.Tensor(array, shared_memory=True)

    @staticmethod
    def array(value):
        """Return a tensor as an array."""
        return numpy.array(value.data)

    def facts(self, kind):
        """Return the facts that OpenVINO reports, with the type of its outputs."""
        streams = self._read("NUM_STREAMS")
        return {
            "framework_version": _version(),
            "precision": precision_fact(kind, self._arithmetic()),
            "threads": self._read("INFERENCE_NUM_THREADS"),
            "execution": "one stream" if streams == 1 else "%s streams" % streams,
        }

    def _arithmetic(self):
        asked = {"fp32": "float32", "amp": "bfloat16"}[self._precision]
        known = self._read("INFERENCE_PRECISION_HINT")
        return asked if known is None else known.get_type_name().replace("f32", "float32").replace("bf16", "bfloat16")

    def _read(self, name):
        """Return a property of the compiled model, or None from a release that cannot turn it into Python."""
        try:
            return self._model.get_property(name)
        except TypeError:
            return None


class _Steps:
    """The steps of a decoder by two requests in turn, each of which reads what the other has yielded."""

    def __init__(self, model, held, batch_size):
        self._requests = [model.create_infer_request() for _ in range(2)]
        self._held = [(past, present) for past, present, _ in held]
        shapes = [(batch_size, heads, 0, size) for _, _, (heads, size) in held]
        self._empty = [openvino.Tensor(openvino.Type.f32, openvino.Shape(shape)) for shape in shapes]

    def __call__(self, tokens, position):
        """Return the token after some tokens, and its logits."""
        last, request = self._requests
        self._requests = [request, last]
        is_first = not position.data[0]
        request.set_tensor(onnx_decoding.TOKENS, tokens)
        request.set_tensor(onnx_decoding.POSITION, position)
        for (past, present), empty in zip(self._held, self._empty):
            request.set_tensor(past, empty if is_first else last.get_tensor(present))
        request.infer()
        return request.get_tensor(onnx_decoding.CHOSEN), request.get_tensor(onnx.OUTPUT)


def _version():
    return openvino.get_version().partition("-")[0]


def _release():
    return tuple(int(part) for part in _version().split(".")[:2])


def _require_together(kind, precision):
    """Raise `Unsupported` for a kind of quantisation that this release, or OpenVINO itself, does not compute."""
    if kind == quantisation.DYNAMIC:
        raise Unsupported(
            "OpenVINO computes operators that quantise dynamically in float32; quantisation: static does not"
        )
    if kind == quantisation.STATIC and precision != "fp32":
        raise Unsupported("quantisation leaves the rest of a model in float32; set precision: fp32")
    if kind == quantisation.STATIC and _release() < FIRST_QUANTISED:
        raise Unsupported("OpenVINO before 2022.3 crashes or is wrong in 8 bits; here is %s" % _version())
