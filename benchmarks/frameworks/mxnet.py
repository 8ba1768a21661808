"""Apache MXNet 1.x through Gluon: hybrid blocks, a Trainer, channels first."""

import mxnet as mx
from mxnet import autograd, gluon

from benchmarks import graph
from benchmarks.counting import size
from benchmarks.errors import Unsupported

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
        self._layers = workload.layers
        self._blocks = [_LAYERS[layer.kind](layer) for layer in workload.layers]
        network = _network(workload.layers, self._blocks)
        network.initialize(ctx=self._context)
        _set_weights(workload, self._blocks)
        if self._hybrid:
            network.hybridize(static_alloc=True, static_shape=True)
            # The network's own graph holds all of it; what `_walk` runs must not make others beside it.
            for block in self._blocks:
                block.hybridize(False)
        self.batches = [
            (mx.nd.array(inputs, self._context), mx.nd.array(labels, self._context, dtype="int32"))
            for inputs, labels in workload.batches()
        ]
        self.parameters = _count(network)
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

    def weights(self):
        """Copy them to the host and into canonical layout."""
        return {
            parameter.name: _turned(native.data().asnumpy(), (2, 3, 1, 0))
            for layer, block in zip(self._layers, self._blocks)
            for parameter, native in zip(layer.parameters, _parameters(layer, block))
        }

    def native_layers(self):
        """Shapes are those that the blocks yield for a sample of zeros."""
        yielded = self._walk(mx.nd.zeros((1,) + self._layers[0].input_shape, self._context))
        return [
            (layer.name, value.shape[1:], _count(block))
            for layer, block, value in zip(self._layers, self._blocks, yielded)
        ]

    def predict(self, inputs):
        """Walk the blocks one by one, which leaves what the training step has compiled and allocated as it is."""
        for value in self._walk(mx.nd.array(inputs, self._context)):
            logits = value
        return logits.asnumpy()

    def _walk(self, inputs):
        """Yield what each block yields, in evaluation mode."""
        walk, count = graph.places(self._layers)
        values = [inputs] + [None] * (count - 1)
        for block, (taken, given) in zip(self._blocks, walk):
            values[given] = block(*[values[place] for place in taken])
            yield values[given]

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


def _network(layers, blocks):
    if not graph.is_stack(layers):
        return _Graph(layers, blocks)
    network = gluon.nn.HybridSequential()
    for block in blocks:
        network.add(block)
    return network


class _Graph(gluon.HybridBlock):
    """Blocks that take values from any block before them."""

    def __init__(self, layers, blocks):
        super().__init__()
        for block in blocks:
            self.register_child(block)
        walk, self._count = graph.places(layers)
        self._walk = list(zip(blocks, walk))

    def hybrid_forward(self, _, x):
        """Run the blocks in their order."""
        values = [x] + [None] * (self._count - 1)
        for block, (taken, given) in self._walk:
            values[given] = block(*[values[place] for place in taken])
        return values[given]


class _Add(gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        """Add values of one shape."""
        return F.elemwise_add(a, b)


class _Lstm(gluon.HybridBlock):
    """MXNet's fused LSTM, which takes time first; the bias that it adds to the recurrent product stays at zero."""

    def __init__(self, layer):
        super().__init__()
        if not hasattr(gluon.rnn.LSTM, "hybrid_forward"):
            raise Unsupported("the fused LSTM of MXNet %s does not train on a CPU; MXNet 1.4 does" % mx.__version__)
        self._sequences = layer.settings["sequences"]
        self.fused = gluon.rnn.LSTM(layer.settings["units"], input_size=layer.input_shape[1])
        self.fused.l0_h2h_bias.grad_req = "null"

    def hybrid_forward(self, F, x):
        """Run over (batch, time, features)."""
        outputs = self.fused(F.swapaxes(x, 0, 1))
        if self._sequences:
            return F.swapaxes(outputs, 0, 1)
        # Not SequenceLast: its backward pass corrupts memory on a CPU (seen in MXNet 1.5.1 and 1.9.1).
        return F.reshape(F.slice_axis(outputs, axis=0, begin=-1, end=None), shape=(-3, 0))


def _conv2d(layer):
    settings = layer.settings
    top, bottom, left, right = settings["pads"]
    symmetric = top == bottom and left == right
    convolution = gluon.nn.Conv2D(
        settings["filters"],
        settings["kernel"],
        strides=settings["stride"],
        padding=(top, left) if symmetric else (0, 0),
        use_bias=settings["bias"],
        in_channels=layer.input_shape[0],
    )
    if symmetric:
        return convolution
    widths = (0, 0, 0, 0) + settings["pads"]
    padding = gluon.nn.HybridLambda(lambda F, x: F.pad(x, mode="constant", pad_width=widths, constant_value=0))
    return _sequence(padding, convolution)


def _sequence(*blocks):
    sequence = gluon.nn.HybridSequential()
    for block in blocks:
        sequence.add(block)
    return sequence


_LAYERS = {
    "conv2d": _conv2d,
    "dense": lambda layer: gluon.nn.Dense(layer.settings["units"], in_units=layer.input_shape[0]),
    "lstm": _Lstm,
    "batch_norm": lambda layer: gluon.nn.BatchNorm(
        momentum=layer.settings["momentum"], epsilon=layer.settings["epsilon"], in_channels=layer.input_shape[0]
    ),
    "max_pool": lambda layer: gluon.nn.MaxPool2D(layer.settings["size"], layer.settings["stride"]),
    "average_pool": lambda layer: gluon.nn.AvgPool2D(layer.settings["size"]),
    "global_average_pool": lambda _layer: _sequence(gluon.nn.GlobalAvgPool2D(), gluon.nn.Flatten()),
    "add": lambda _layer: _Add(),
    "flatten": lambda _layer: gluon.nn.Flatten(),
    "relu": lambda _layer: gluon.nn.Activation("relu"),
    "dropout": lambda layer: gluon.nn.Dropout(layer.settings["rate"]),
}


def _parameters(layer, block):
    """Gluon's parameters in the order of the layer's own."""
    if not layer.parameters:
        return []
    if layer.kind == "lstm":
        return [block.fused.l0_i2h_weight, block.fused.l0_h2h_weight, block.fused.l0_i2h_bias]
    if layer.kind == "batch_norm":
        return [block.gamma, block.beta]
    holder = block[-1] if isinstance(block, gluon.nn.HybridSequential) else block
    return [holder.weight, holder.bias][: len(layer.parameters)]


def _set_weights(workload, blocks):
    weights = workload.weights()
    for layer, block in zip(workload.layers, blocks):
        for parameter, native in zip(layer.parameters, _parameters(layer, block)):
            native.set_data(mx.nd.array(_turned(weights[parameter.name], (3, 2, 0, 1))))


def _turned(array, axes):
    """Turn a weight into MXNet's layout, or back: a convolution's by `axes`, while a matrix is transposed."""
    return array.transpose(axes) if array.ndim == 4 else array.T


def _count(block):
    """Logical trainable parameters: what MXNet updates."""
    return sum(size(each.shape) for each in block.collect_params().values() if each.grad_req != "null")


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
