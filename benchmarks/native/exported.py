"""The file of a model as a framework's own exporter writes it, in a process that the engine's memory does not see.

The catalog names the framework that is beside an engine by a variable of the environment. Layers and weights are those
that the framework reports of what it exports, since its file may hold them in any form.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

import numpy
import onnx
from onnx import helper

from benchmarks import errors, process
from benchmarks.errors import Failure, Unsupported
from benchmarks.native import one_of
from benchmarks.workload import ModelWorkload

EXPORTER = "BENCH_EXPORTER"
"""The variable that names the builder whose framework exports."""
CHOICES = AUTO, RECORDED, NATIVE = ("auto", "recorded", "native")
WORK, MODEL, WEIGHTS, ANSWER = ("work.pickle", "model.onnx", "weights.npz", "answer.json")
"""Files of the folder that is shared with the process that exports."""
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

Exported = namedtuple("Exported", "content exporter inputs channels_last weights layers")
Exported.__doc__ = """A file with the name and release of its exporter.

    It has the name and NumPy type of each input in the model's order, whether images are channels last, and the weights
    and layers of the framework in the form of a session's."""


class Exporting(ModelWorkload):
    """The work of an engine as the builder of a framework takes it, to be exported with one batch size.

    It can be sent to another process, because it holds its batch and weights.
    """

    def __init__(self, workload, builder, batch_size):
        own = {name: value for name, value in vars(workload).items() if name not in ("data", "weights")}
        self.__dict__.update(own, builder=builder, batch_size=batch_size, batch_count=1)
        self._weights = workload.weights()
        self._batch = next(workload.data.batches(batch_size, 1))

    def batches(self):
        """Yield the one batch."""
        yield self._batch

    def weights(self):
        """Return the initial weights."""
        return self._weights


def exporter_of(workload):
    """Return the builder whose framework exports the model, or None for the file of the recorded layers.

    Raises `Unsupported` if `export: native` is asked for where no framework is beside the engine, or of a network.
    """
    asked, beside = one_of(workload.options, "export", CHOICES), os.environ.get(EXPORTER)
    if asked == NATIVE and workload.network:
        raise Unsupported("export: native is of models of the program; your own ONNX file is given as it is")
    if asked == NATIVE and not beside:
        example = "%s==VERSION on torch==VERSION" % workload.builder
        raise Unsupported("export: native needs a framework beside the engine, as in %s" % example)
    return None if asked == RECORDED else beside


def exported(builder, workload, batch_size):
    """Return the file of a model for a batch size. Raises `Unsupported` if the framework cannot export it."""
    folder = tempfile.mkdtemp(prefix="exported-")
    try:
        with open(os.path.join(folder, WORK), "wb") as file:
            pickle.dump(Exporting(workload, builder, batch_size), file, protocol=4)
        answer = _answer(folder)
        with open(os.path.join(folder, MODEL), "rb") as file:
            content = file.read()
        with numpy.load(os.path.join(folder, WEIGHTS)) as stored:
            weights = {name: stored[name] for name in stored.files}
    finally:
        shutil.rmtree(folder)
    layers = [(name, tuple(shape), count) for name, shape, count in answer["layers"]]
    return Exported(content, answer["exporter"], _inputs(content), answer["channels_last"], weights, layers)


def _answer(folder):
    """Run the process that exports. Raises the `Failure` that it names."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _ROOT]
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.exporters.worker", folder],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=2,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join([_ROOT] + paths)),
        preexec_fn=process.dying_with_this(),
    )
    path = os.path.join(folder, ANSWER)
    if not os.path.exists(path):
        raise Failure("the process that exports ended with %d" % ended.returncode)
    with open(path) as file:
        answer = json.load(file)
    if "failure" in answer:
        raise getattr(errors, answer["failure"])(answer["reason"])
    return answer


def _inputs(content):
    """Return the name and the NumPy type of each input. Some exporters list weights among the inputs too."""
    graph = onnx.load_model_from_string(content).graph
    held = {each.name for each in graph.initializer}
    given = [each for each in graph.input if each.name not in held]
    return [(each.name, helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)) for each in given]
