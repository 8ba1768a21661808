"""TensorFlow 2 through Keras layers, with one `tf.function` per step; channels last, without TF32."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import tensorflow as tf

from benchmarks.errors import Unsupported
from benchmarks.weights import channels_last_rows

OPTIONS = {}
OLDEST = (2, 4)


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    if tuple(int(part) for part in tf.__version__.split(".")[:2]) < OLDEST:
        message = "this builder needs TensorFlow %d.%d or newer; here is %s"
        raise Unsupported(message % (OLDEST + (tf.__version__,)))
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        self._gpu = workload.one_device()
        self._training = workload.training
        _seed(workload.seed)
        _configure(workload.threads, self._gpu)
        self._device = "/GPU:0" if self._gpu else "/CPU:0"
        with tf.device(self._device):
            network = _network(workload)
            # 64 bits wide, because TensorFlow keeps int32 in the host's memory whatever the device is.
            self.batches = [
                (tf.constant(_channels_last(inputs)), tf.constant(labels, tf.int64))
                for inputs, labels in workload.batches()
            ]
            self.parameters = network.count_params()
            self.step = _training_step(network, workload) if workload.training else _inference_step(network)

    def synchronise(self, handle):
        """Read one value of the last step back; on a GPU wait for the update behind it too."""
        if self._gpu:
            tf.test.experimental.sync_devices()
        (handle if self._training else handle[0, 0]).numpy()

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host."""
        return handle.numpy()

    @staticmethod
    def loss(handle):
        """Mean over the batch."""
        return float(handle.numpy())

    def facts(self):
        """Threads are those of the intra-op pool; TensorFlow says 0 where it chooses for itself."""
        return {
            "framework_version": tf.__version__,
            "layout": "channels_last",
            "precision": "float32",
            "threads": tf.config.threading.get_intra_op_parallelism_threads() or None,
            "device": self._device,
            "execution": "tf.function",
        }

    def peak_device_bytes(self):
        """Highest use of TensorFlow's own allocator on the GPU."""
        return int(tf.config.experimental.get_memory_info("GPU:0")["peak"]) if self._gpu else None


def _configure(threads, gpu):
    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    if not gpu:
        tf.config.set_visible_devices([], "GPU")
    for device in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(device, True)


def _seed(seed):
    """Seed dropout: Keras 3 draws from a seed of its own, and before TensorFlow 2.7 there is only TensorFlow's."""
    getattr(tf.keras.utils, "set_random_seed", tf.random.set_seed)(seed)


def _network(workload):
    shape = workload.input_shape
    inputs = tf.keras.Input(shape[1:] + shape[:1] if len(shape) == 3 else shape)
    outputs = inputs
    made = []
    for layer in workload.layers:
        made.append(_LAYERS[layer.kind](layer))
        outputs = made[-1](outputs)
    _set_weights(workload, made)
    return tf.keras.Model(inputs, outputs)


_LAYERS = {
    "conv2d": lambda layer: tf.keras.layers.Conv2D(
        layer.settings["filters"], layer.settings["kernel"], data_format="channels_last"
    ),
    "dense": lambda layer: tf.keras.layers.Dense(layer.settings["units"]),
    "average_pool": lambda layer: tf.keras.layers.AveragePooling2D(layer.settings["size"], data_format="channels_last"),
    "flatten": lambda _layer: tf.keras.layers.Flatten(data_format="channels_last"),
    "relu": lambda _layer: tf.keras.layers.ReLU(),
    "dropout": lambda layer: tf.keras.layers.Dropout(layer.settings["rate"]),
}


def _set_weights(workload, made):
    weights = workload.weights()
    for layer, native in zip(workload.layers, made):
        if layer.parameters:
            weight, bias = (weights[parameter.name] for parameter in layer.parameters)
            native.set_weights([channels_last_rows(weight, layer.settings.get("flattened")), bias])


def _channels_last(inputs):
    return inputs.transpose(0, 2, 3, 1) if inputs.ndim == 4 else inputs


def _training_step(network, workload):
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = _optimizer(workload.optimizer)
    variables = network.trainable_variables

    @tf.function
    def train(inputs, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(inputs, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def step(batch):
        return train(*batch)

    return step


def _inference_step(network):
    @tf.function
    def infer(inputs):
        return network(inputs, training=False)

    def step(batch):
        return infer(batch[0])

    return step


def _optimizer(settings):
    rate = settings["learning_rate"]
    if settings["name"] == "adam":
        betas = {"beta_1": settings["beta_1"], "beta_2": settings["beta_2"]}
        return tf.keras.optimizers.Adam(rate, epsilon=settings["epsilon"], **betas)
    if settings["name"] == "rmsprop":
        return tf.keras.optimizers.RMSprop(rate, rho=settings["rho"], epsilon=settings["epsilon"] ** 2)
    return tf.keras.optimizers.SGD(rate, momentum=settings["momentum"])
