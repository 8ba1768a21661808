"""Inference by the `MLPClassifier` of scikit-learn.

It is dense layers with a ReLU after each but the last.
"""

import warnings

import numpy
import sklearn
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_info

from benchmarks.errors import Unsupported

OPTIONS = {}
OFFERS = ("layer dense", "layer relu", "layer flatten", "layer dropout")
"""A dropout does nothing in inference."""
WHY_NO_TRAINING = ": MLPClassifier trains in a loop of its own, and its Adam and SGD are others than those of models"
_LEAST_CLASSES = 3
"""With two classes it has one output, and with one class two."""


def start(workload):
    """Make a fitted classifier and give it the weights."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        if workload.one_device():
            raise Unsupported("MLPClassifier computes on a CPU alone")
        if workload.classes < _LEAST_CLASSES:
            raise Unsupported("MLPClassifier needs three classes or more")
        self._dense = _dense_layers(workload.layers)
        self._flat = len(workload.input_shape) == 1
        self._classifier = _classifier(self._dense, workload.classes)
        drawn = workload.weights()
        for layer, (weight, bias) in zip(self._dense, self._native()):
            weight[:], bias[:] = (drawn[parameter.name] for parameter in layer.parameters)
        self.batches = [self._placed(inputs) for inputs, _ in workload.batches()]
        self.parameters = sum(array.size for pair in self._native() for array in pair)
        self.step = self._classifier.predict_proba

    def _native(self):
        """Return pairs of weight and bias, one for each dense layer."""
        return list(zip(self._classifier.coefs_, self._classifier.intercepts_))

    def _placed(self, inputs):
        return numpy.ascontiguousarray(inputs if self._flat else inputs.reshape(len(inputs), -1))

    @staticmethod
    def synchronise(_handle):
        """Wait for nothing, because every step is synchronous."""

    @staticmethod
    def fetch(handle):
        """Return the logits, which are in the host's memory."""
        return handle

    def weights(self):
        """Copy the weights of the classifier, which are in canonical layout."""
        return {
            parameter.name: array.copy()
            for layer, pair in zip(self._dense, self._native())
            for parameter, array in zip(layer.parameters, pair)
        }

    def native_layers(self):
        """Return the dense layers alone, because a ReLU is an activation of theirs."""
        return [
            (layer.name, bias.shape, weight.size + bias.size)
            for layer, (weight, bias) in zip(self._dense, self._native())
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch."""
        return self._classifier.predict_proba(self._placed(inputs))

    def facts(self):
        """Return facts, with the threads of the library that multiplies matrices."""
        pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        return {
            "framework_version": sklearn.__version__,
            "layout": None,
            "precision": self._classifier.predict_proba(self.batches[0][:1]).dtype.name,
            "threads": max(pools) if pools else None,
            "device": "cpu",
            "execution": "MLPClassifier.predict_proba",
        }

    @staticmethod
    def peak_device_bytes():
        """Return None, because there is no device."""


def _dense_layers(layers):
    """Return the dense layers of a model. Raises `Unsupported` if they are put together in another way."""
    kinds = [layer.kind for layer in layers if layer.kind not in ("flatten", "dropout")]
    dense = [layer for layer in layers if layer.kind == "dense"]
    if kinds != ["dense", "relu"] * (len(dense) - 1) + ["dense"] or len(dense) < 2:
        raise Unsupported("MLPClassifier is two or more dense layers with a ReLU between each two; this model is not")
    return dense


def _classifier(dense, classes):
    """Fit a classifier to one batch of zeros, which makes its weights, and let it yield logits."""
    classifier = MLPClassifier(hidden_layer_sizes=[layer.settings["units"] for layer in dense[:-1]], activation="relu")
    zeros = numpy.zeros((classes, dense[0].input_shape[0]), numpy.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a fit that has not converged
        classifier.partial_fit(zeros, numpy.arange(classes), classes=numpy.arange(classes))
    # The softmax is a part of the loss, as in every framework.
    classifier.out_activation_ = "identity"
    return classifier
