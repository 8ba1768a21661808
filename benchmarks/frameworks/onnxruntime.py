"""ONNX Runtime, which is given every model as an ONNX file and does inference."""

import onnxruntime

from benchmarks.native import one_of, serving
from benchmarks.vocabulary import features

OPTIONS = {"optimization": "all"}
OFFERS = features.ALL - {features.TRAINING, "sparse inputs"}
WHY_NO_TRAINING = ": it runs models that are exported"
_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "extended": "ORT_ENABLE_EXTENDED",
    "basic": "ORT_ENABLE_BASIC",
    "none": "ORT_DISABLE_ALL",
}


def start(workload):
    """Write the file of the model, and compile it."""
    return _Session(workload)


class _Session(serving.ServingSession):
    def __init__(self, workload):
        level = _LEVELS[one_of(workload.options, "optimization", _LEVELS)]
        self._settings = onnxruntime.SessionOptions()
        self._settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        self._settings.intra_op_num_threads = workload.threads or 0
        self._settings.inter_op_num_threads = 1
        super().__init__(workload, self._opened)

    def _opened(self, content):
        session = onnxruntime.InferenceSession(content, self._settings, providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_outputs()]
        self._providers = session.get_providers()
        return lambda fed: session.run(names, fed)

    def facts(self):
        """Return the facts that ONNX Runtime reports."""
        return dict(
            super().facts(),
            framework_version=onnxruntime.__version__,
            threads=self._settings.intra_op_num_threads or None,
            execution=", ".join(self._providers),
        )
