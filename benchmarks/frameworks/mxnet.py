"""Apache MXNet 1.x through Gluon: hybrid blocks, a Trainer, channels first."""

import mxnet as mx
from mxnet import autograd, gluon

from benchmarks.counting import size

OPTIONS = {"hybridize": True}


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        mx.random.seed(workload.seed)
        self._context = mx.gpu(0) if workload.one_device() else mx.cpu()
        self._hybrid = workload.options["hybridize"]
        network = gluon.nn.HybridSequential()
        for layer in workload.layers:
            network.add(_LAYERS[layer.kind](layer))
        network.initialize(ctx=self._context)
        _set_weights(network, workload)
        if self._hybrid:
            network.hybridize(static_alloc=True, static_shape=True)
        self.batches = [
            (mx.nd.array(inputs, self._context), mx.nd.array(labels, self._context, dtype="int32"))
            for inputs, labels in workload.batches()
        ]
        self.parameters = sum(size(parameter.shape) for parameter in network.collect_params().values())
        self.step = self._training_step(network, workload) if workload.training else _inference_step(network)
        mx.nd.waitall()

    def _training_step(self, network, workload):
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        if self._hybrid:
            loss_of.hybridize(static_alloc=True, static_shape=True)
        trainer = gluon.Trainer(network.collect_params(), *_optimizer(workload.optimizer))
        batch_size = workload.batch_size

        def step(batch):
            inputs, labels = batch
            with autograd.record():
                losses = loss_of(network(inputs), labels)
            losses.backward()
            trainer.step(batch_size)
            return losses

        return step

    @staticmethod
    def synchronise(handle):
        """Wait until the engine has nothing left to do; old releases raise a failed step's error at its result only."""
        mx.nd.waitall()
        handle.wait_to_read()

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host."""
        return handle.asnumpy()

    @staticmethod
    def loss(handle):
        """Mean over the batch: Gluon's loss is one value per sample, and the Trainer divides by their number."""
        return float(handle.asnumpy().astype("float64").mean())

    def facts(self):
        """Threads are OpenMP's, as the library that MXNet itself is linked to tells them."""
        return {
            "framework_version": mx.__version__,
            "layout": "channels_first",
            "precision": "float32",
            "threads": _openmp_threads(),
            "device": str(self._context),
            "execution": "hybridized, static" if self._hybrid else "imperative",
            "libraries": _features(),
        }

    @staticmethod
    def peak_device_bytes():
        """MXNet keeps no highest use."""


def _inference_step(network):
    def step(batch):
        return network(batch[0])

    return step


_LAYERS = {
    "conv2d": lambda layer: gluon.nn.Conv2D(
        layer.settings["filters"], layer.settings["kernel"], in_channels=layer.input_shape[0]
    ),
    "dense": lambda layer: gluon.nn.Dense(layer.settings["units"], in_units=layer.input_shape[0]),
    "average_pool": lambda layer: gluon.nn.AvgPool2D(layer.settings["size"]),
    "flatten": lambda _layer: gluon.nn.Flatten(),
    "relu": lambda _layer: gluon.nn.Activation("relu"),
    "dropout": lambda layer: gluon.nn.Dropout(layer.settings["rate"]),
}


def _set_weights(network, workload):
    weights = workload.weights()
    for layer, block in zip(workload.layers, network):
        if layer.parameters:
            weight, bias = (weights[parameter.name] for parameter in layer.parameters)
            block.weight.set_data(mx.nd.array(weight.transpose(3, 2, 0, 1) if weight.ndim == 4 else weight.T))
            block.bias.set_data(mx.nd.array(bias))


def _optimizer(settings):
    rate = {"learning_rate": settings["learning_rate"]}
    if settings["name"] == "adam":
        betas = {"beta1": settings["beta_1"], "beta2": settings["beta_2"]}
        return "adam", dict(rate, epsilon=settings["epsilon"], **betas)
    if settings["name"] == "rmsprop":
        return "rmsprop", dict(rate, gamma1=settings["rho"], epsilon=settings["epsilon"] ** 2)
    return "sgd", dict(rate, momentum=settings["momentum"])


def _openmp_threads():
    try:
        return int(mx.base._LIB.omp_get_max_threads())
    except AttributeError:
        return None


def _features():
    """Which libraries this build of MXNet computes with; empty before MXNet 1.5, which does not tell."""
    try:
        from mxnet.runtime import Features
    except ImportError:
        return []
    wanted = ("MKLDNN", "BLAS_OPEN", "BLAS_MKL", "OPENMP", "CUDA", "CUDNN")
    features = Features()
    return [name for name in wanted if name in features and features.is_enabled(name)]
