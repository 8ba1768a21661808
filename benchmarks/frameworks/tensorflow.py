"""TensorFlow 2 through Keras layers, with one `tf.function` for each step, without TF32 by default.

Images are channels last unless the option `layout` says otherwise. `xla` compiles the step's own `tf.function` and
nothing else in the process. `eager` runs the step without a `tf.function`.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import tensorflow as tf

from benchmarks import parallel
from benchmarks.errors import Unsupported
from benchmarks.inputs import feeds, sparse
from benchmarks.loaders.tensorflow import TensorFlowLoader
from benchmarks.native import (
    LAYOUTS,
    PRECISIONS,
    image_kernels,
    one_of,
    operators,
    parts,
    precision_fact,
    require_float32_rows,
)
from benchmarks.native import tensorflow as native
from benchmarks.native.decoding import tensorflow as tensorflow_decoding
from benchmarks.native.steps import tensorflow as tensorflow_steps
from benchmarks.parallel import tensorflow as several
from benchmarks.precision import LEAST_CAPABILITY, TF32, require_tf32
from benchmarks.timing import generation
from benchmarks.vocabulary import features

FEEDS = ("fed", "loader")
SEVERAL_DEVICES = True
OPTIONS = {"eager": False, "layout": "auto", "precision": "fp32", "xla": False}
OFFERS = features.ALL
OLDEST = (2, 1)
POLICIES = {"fp32": "float32", TF32: "float32", "bf16": "bfloat16", "amp": "mixed_bfloat16"}
"""The option `precision` as Keras names it."""


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    if _release() < OLDEST:
        raise Unsupported("this builder needs TensorFlow %d.%d or newer; here is %s" % (OLDEST + (tf.__version__,)))
    return _Session(workload)


def generator(workload):
    """Build the model with a cache of keys and values, and place its weights and prompts."""
    if _release() < OLDEST:
        raise Unsupported("this builder needs TensorFlow %d.%d or newer; here is %s" % (OLDEST + (tf.__version__,)))
    return _Generator(workload)


class _Session:
    short_blocks = False
    _generating = False
    _in_use = None
    _replicas = None

    def __init__(self, workload):
        is_shared = workload.training and workload.devices > 1
        if is_shared:
            several.require_several(workload)
        self._gpu = workload.gpus > 0 if is_shared else workload.one_device()
        self._training = workload.training
        self._precision = one_of(workload.options, "precision", PRECISIONS)
        require_float32_rows(workload)
        self._builder = _builder(workload, self._gpu, POLICIES[self._precision])
        _seed(workload.seed)
        configure(workload.threads, self._gpu, self._precision)
        if is_shared and not self._gpu:
            several.divide_cpu(workload.devices)
        if is_shared:
            self._replicas = several.TensorFlowReplicas("GPU" if self._gpu else "CPU", workload.devices)
        self._workload = workload
        if not (self._builder.channels_last or self._gpu or workload.options["xla"]):
            image_kernels.require_channels_first(workload)
        self._device = "/GPU:0" if self._gpu else "/CPU:0"
        self._input_dtype = "bfloat16" if self._precision == "bf16" else "float32"
        self._layers = workload.layers
        with self._replicas.scope() if is_shared else tf.device(self._device):
            network, self._made = self._builder.network(self._layers, workload.inputs, self._input_dtype)
            self._builder.set_weights(self._layers, self._made, workload.weights())
            self.batches = feeds.batches(
                workload,
                self._shared if is_shared else self._pair,
                TensorFlowLoader(self._moved, self._builder.native_inputs),
            )
            self._network = network
            self.parameters = sum(native.count(*pair) for pair in zip(self._layers, self._made))
            compiled = decorator(workload.options)
            if workload.training:
                self._function, self.step = tensorflow_steps.training_step(network, workload, compiled, self._replicas)
            else:
                self._function, self.step = tensorflow_steps.inference_step(network, compiled)

    def _pair(self, inputs, labels):
        with tf.device(self._device):
            return self._native(inputs, labels)

    def _native(self, inputs, labels):
        # 64 bits wide, because TensorFlow keeps int32 in the host's memory whatever the device is.
        return self._placed(inputs), tf.constant(labels, tf.int64 if labels.dtype.kind == "i" else tf.float32)

    def _shared(self, inputs, labels):
        """Place each device's part of a batch there."""
        numbers = range(self._workload.devices)
        parts_of = [parallel.part(self._workload, inputs, labels, number) for number in numbers]
        return self._replicas.placed(self._native, parts_of)

    def _moved(self, inputs, labels):
        """Bring a batch of tensors, laid out as it runs here, to the device."""
        with tf.device(self._device):
            return tf.cast(inputs, self._input_dtype), tf.cast(labels, tf.int64)

    def _placed(self, inputs):
        placed = [self._placed_input(each) for each in parts(inputs)]
        return placed if isinstance(inputs, tuple) else placed[0]

    def _placed_input(self, inputs):
        if isinstance(inputs, sparse.Rows):
            return tf.sparse.SparseTensor(inputs.places(), inputs.csr()[0], inputs.shape)
        kinds = {"i": tf.int64, "f": self._input_dtype}
        return tf.constant(self._builder.native_inputs(inputs), kinds[inputs.dtype.kind])

    def network(self):
        """Return the Keras model, for an exporter."""
        return self._network

    def synchronise(self, handle):
        """Read one value of the last step back, and on a GPU wait for the update behind it too."""
        if self._gpu:
            synchronise_devices()
        if self._replicas:
            self._replicas.values(handle)
            return
        (handle if self._training else handle[0, 0]).numpy()

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host."""
        return handle.numpy()

    def loss(self, handle):
        """Return the mean over the batch, of which each of several devices has the mean over its part."""
        if self._replicas:
            losses = self._replicas.values(handle)
            return float(sum(losses) / len(losses))
        return float(handle.numpy())

    def weights(self):
        """Return the current weights of the layers, in canonical layout."""
        return self._builder.weights(self._layers, self._made)

    def native_layers(self):
        """Return the name, the output shape and the number of trained weights of every layer."""
        return [
            (layer.name, self._builder.canonical_shape(tuple(made.output.shape)[1:]), native.count(layer, made))
            for layer, made in zip(self._layers, self._made)
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch in evaluation mode, run eagerly."""
        with tf.device(self._device):
            return tf.cast(self._network(self._placed(inputs), training=False), tf.float32).numpy()

    def product(self, left, right):
        """Return the product of two NumPy matrices, multiplied as the steps multiply."""
        dtype = "bfloat16" if POLICIES[self._precision].endswith("bfloat16") else "float32"
        compiled = decorator(self._workload.options)
        multiply = compiled(tf.matmul) if compiled else tf.matmul
        with tf.device(self._device):
            left, right = (tf.cast(tf.constant(each), dtype) for each in (left, right))
            return tf.cast(multiply(left, right), tf.float32).numpy()

    def devices_in_use(self):
        """Return the device of a tensor that is computed as the steps are, for each device of the session."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = self._replicas.names() if self._replicas else [native.computed_on(self._device)]
        return self._in_use

    def device_in_use(self):
        """Return the first of them."""
        return self.devices_in_use()[0]

    def facts(self):
        """Return the facts that TensorFlow reports.

        Threads are those of the intra-op pool, for which TensorFlow reports 0 if it chooses for itself. The precision
        is that of a weight and of what its layer yields.
        """
        weighted = next(made for made in self._made if made.trainable_weights)
        dtypes = [tf.as_dtype(each.dtype).name for each in (weighted.trainable_weights[0], weighted.output)]
        xla = self._compiled_by_xla()
        facts = {
            "framework_version": tf.__version__,
            "layout": "channels_last" if self._builder.channels_last else "channels_first",
            "precision": precision_fact(*dtypes),
            "tf32": _has_tf32() and tf.config.experimental.tensor_float_32_execution_enabled(),
            "threads": tf.config.threading.get_intra_op_parallelism_threads() or None,
            "device": self.device_in_use(),
            "execution": ("tf.function with XLA" if xla else "tf.function") if self._function else "eager",
            "xla": xla,
            "xla_in_whole_process": bool(tf.config.optimizer.get_jit()),
        }
        facts.update(operators(self._layers, native.operators(self._layers, self._generating)))
        gpus = tf.config.get_visible_devices("GPU")
        if gpus:
            facts["memory_growth"] = all(tf.config.experimental.get_memory_growth(gpu) for gpu in gpus)
        if self._replicas is None:
            return facts
        names = self.devices_in_use()
        shared = parallel.facts(self._workload, names, several.AVERAGING, several.RUNNING_VALUES)
        return dict(facts, parallel=shared)

    def _compiled_by_xla(self):
        """Return whether XLA must compile the step, as the traced function itself has it."""
        if self._function is None:
            return False
        definition = self._traced().function_def
        return any(definition.attr[name].b for name in ("_XlaMustCompile", "_XlaCompile"))

    def _traced(self):
        """Return the step as it is traced, of which there is none if it is eager."""
        batch = self.batches[0]
        return self._function.get_concrete_function(*(batch if self._training else batch[:1]))

    def peak_device_bytes(self):
        """Return the highest use of TensorFlow's own allocator on the GPU, in bytes."""
        if not self._gpu:
            return None
        peaks = [peak_device_bytes(number) for number in range(self._replicas.count if self._replicas else 1)]
        return None if None in peaks else max(peaks)

    def reset_peak_device_bytes(self):
        """Have that allocator count its highest use anew. Return whether it can."""
        count = self._replicas.count if self._replicas else 1
        return self._gpu and False not in [reset_peak_device_bytes(number) for number in range(count)]


class _Generator(_Session):
    """A session whose batches are prompts, and whose steps choose tokens."""

    _generating = True

    def __init__(self, workload):
        super().__init__(workload)
        self._prompt, capacity = workload.generation.prompt, sum(workload.generation)
        with tf.device(self._device):
            self.batches = [tf.identity(inputs[:, : self._prompt]) for inputs, _ in self.batches]
            lengths = workload.generation
            decoder = tensorflow_decoding.TensorFlowDecoder(self._layers, self._made, lengths, workload.batch_size)
        compiled = decorator(workload.options) or _as_it_is
        self._prefill, self._decode = (
            compiled(_choosing(logits)) for logits in (decoder.after_prompt, decoder.after_step)
        )
        # In the host's memory, where TensorFlow looks for the places of a slice.
        with tf.device("/CPU:0"):
            self._positions = [tf.constant(position, tf.int32) for position in range(capacity)]
        self._position = 0

    def prefill(self, prompt):
        """Begin anew with a prompt, and choose the token after it."""
        self._position = self._prompt
        return generation.Step(*self._prefill(prompt))

    def decode(self, step):
        """Choose the token after that of a step."""
        chosen = self._decode(step.tokens, self._positions[self._position])
        self._position += 1
        return generation.Step(*chosen)

    @staticmethod
    def tokens(step):
        """Copy the tokens of a step to the host."""
        return step.tokens.numpy()

    @staticmethod
    def logits(step):
        """Copy the logits of a step to the host."""
        return step.logits.numpy()

    def _traced(self):
        return self._prefill.get_concrete_function(self.batches[0])


def _as_it_is(function):
    return function


def _choosing(logits_of):
    def choose(*given):
        logits = logits_of(*given)
        return tf.argmax(logits, axis=-1), logits

    return choose


def _release():
    return tuple(int(part) for part in tf.__version__.split(".")[:2])


def _builder(workload, gpu, policy):
    channels_last = one_of(workload.options, "layout", LAYOUTS) != "channels_first"
    if not channels_last and not gpu and tf.keras.__version__.startswith("2."):
        raise Unsupported("TensorFlow's CPU kernels take channels_last only, and Keras 2 does not transpose for them")
    if workload.options["xla"] and "sparse inputs" in features.needed(workload):
        raise Unsupported("XLA has no product of sparse rows; xla: false has")
    return native.Builder(channels_last, policy, workload.options["xla"])


def _has_tf32():
    """Return whether TensorFlow has a switch for TF32, which came with the arithmetic itself in 2.4."""
    return hasattr(tf.config.experimental, "tensor_float_32_execution_enabled")


def _capability(gpu):
    """Return the compute capability of the first GPU as two numbers, or None on a CPU.

    Where there is no usable GPU, or it does not tell, that is found out later: return the least that has TF32.
    """
    found = tf.config.list_physical_devices("GPU") if gpu else []
    ask = getattr(tf.config.experimental, "get_device_details", None)
    told = ask(found[0]).get("compute_capability") if found and ask else None
    return told or LEAST_CAPABILITY if gpu else None


def peak_device_bytes(number=0):
    """Return the highest use of TensorFlow's own allocator on a GPU, or None before 2.5, which tells none."""
    information = getattr(tf.config.experimental, "get_memory_info", None)
    return int(information("GPU:%d" % number)["peak"]) if information else None


def reset_peak_device_bytes(number=0):
    """Have TensorFlow's own allocator on a GPU count its highest use anew. Return whether this release can."""
    reset = getattr(tf.config.experimental, "reset_memory_stats", None)
    if reset is None or not hasattr(tf.config.experimental, "get_memory_info"):
        return False
    reset("GPU:%d" % number)
    return True


def synchronise_devices():
    """Wait for all that was issued. Without `sync_devices`, which came with 2.5, a copy from the GPU waits for it."""
    experimental = getattr(tf.test, "experimental", None)
    if hasattr(experimental, "sync_devices"):
        experimental.sync_devices()
    else:
        tf.identity(tf.zeros(())).numpy()


def configure(threads, gpu, precision):
    """Change the settings that must be in place before TensorFlow makes its devices."""
    if threads:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    if precision == TF32:
        require_tf32(_capability(gpu), _has_tf32())
    if _has_tf32():
        tf.config.experimental.enable_tensor_float_32_execution(precision == TF32)
    if not gpu:
        tf.config.set_visible_devices([], "GPU")
    for device in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(device, True)


def _seed(seed):
    """Seed dropout.

    Keras 3 draws from a seed of its own, and before TensorFlow 2.7 there is only TensorFlow's.
    """
    getattr(tf.keras.utils, "set_random_seed", tf.random.set_seed)(seed)


def decorator(options):
    """Return what makes a step's function, which is a `tf.function`, one that XLA compiles, or None."""
    if not options["xla"]:
        return None if options["eager"] else tf.function
    if options["eager"]:
        raise Unsupported("xla compiles a step's tf.function, and with eager there is none; set one of them")
    # The argument has its name since 2.5.
    return tf.function(**{"jit_compile" if _release() >= (2, 5) else "experimental_compile": True})
