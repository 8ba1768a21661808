"""JAX with the layers of flax and the optimizers of optax, and one `jax.jit` for each step.

It runs without TF32 by default, and images are channels last.

The layers are flax' NNX modules, the interface that flax recommends for new code. They own their weights, so the
framework itself reports what it made, and their LSTM cell holds its gates side by side as one product takes them. NNX's
own transformations walk the modules in Python at every call. Here the modules are split once, and a step is a plain
function of arrays, which costs least.
"""

import functools
import os

import jax
import numpy
import optax
from flax import nnx
from jax import numpy as jnp

from benchmarks import parallel
from benchmarks.inputs import feeds
from benchmarks.native import IN_FLOAT32, PRECISIONS, alike, one_of, operators, precision_fact
from benchmarks.native import jax as native
from benchmarks.native.decoding import jax as jax_decoding
from benchmarks.native.transformers import jax as jax_transformer
from benchmarks.parallel.jax import AVERAGING, RUNNING_VALUES, JaxReplicas
from benchmarks.precision import TF32, require_tf32
from benchmarks.timing import generation
from benchmarks.vocabulary import features

FEEDS = ("fed",)
WHY_NO_LOADER = ": JAX has no data loader of its own"
SEVERAL_DEVICES = True
OPTIONS = {"layout": "auto", "precision": "fp32"}
OFFERS = features.ALL - {"GRU without reset_after", "sparse inputs"}
LAYOUTS = ("auto", "channels_last")
"""Flax has layers for channels last alone, and XLA lays values out as it likes."""
_MATMUL_PRECISIONS = {"fp32": "highest", TF32: "tensorfloat32"}


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    return _Session(workload)


def generator(workload):
    """Build the model with a cache of keys and values, and place its weights and prompts."""
    return _Generator(workload)


class _Session:
    short_blocks = False
    _in_use = None

    def __init__(self, workload):
        several = workload.training and workload.devices > 1
        self._gpu = workload.gpus > 0 if several else workload.one_device()
        self._precision = one_of(workload.options, "precision", PRECISIONS)
        one_of(workload.options, "layout", LAYOUTS)
        configure(workload.threads, self._gpu, self._precision)
        if several and not self._gpu:
            jax.config.update("jax_num_cpu_devices", workload.devices)
        if self._precision == TF32:
            require_tf32(_capability(self._gpu), has_switch=True)
        self._replicas = JaxReplicas(workload.devices) if several else None
        self._workload = workload
        self._layers, self._zeros = workload.layers, workload.zeros
        self._input_dtype = jnp.bfloat16 if self._precision == "bf16" else jnp.float32
        self._compute_dtype = jnp.float32 if self._precision in IN_FLOAT32 else jnp.bfloat16
        network = native.RecordedModule(self._layers, self._input_dtype, self._compute_dtype, workload.seed)
        native.set_weights(self._layers, network, workload.weights())
        self._model = _Model(network, workload)
        if several:
            self._model.state = self._replicas.replicated(self._model.state)
        self.parameters = sum(each.size for each in self._model.state[0])
        self.batches = feeds.batches(workload, self._pair)
        self._infer = jax.jit(self._model.logits)
        if workload.training:
            self.step = _training_step(self._model, _optimizer(workload.optimizer), self._replicas)
        else:
            self.step = _inference_step(self._infer, self._model.state)

    def _pair(self, inputs, labels):
        pair = self._placed(inputs), jnp.asarray(labels)
        return self._replicas.sharded(pair) if self._replicas else pair

    def _placed(self, inputs):
        return alike(inputs, self._placed_input)

    def _placed_input(self, inputs):
        dtype = self._input_dtype if inputs.dtype.kind == "f" else jnp.int32
        return jnp.asarray(native.native_inputs(inputs), dtype)

    def network(self):
        """Return the function that makes logits of inputs with the current weights, for an exporter."""
        return functools.partial(self._model.logits, *self._model.state[:2])

    def synchronise(self, handle):
        """Wait for the last step's result, and for the weights behind it."""
        jax.block_until_ready((handle, self._model.state))

    @staticmethod
    def fetch(handle):
        """Copy the logits to the host."""
        return numpy.asarray(handle)

    @staticmethod
    def loss(handle):
        """Return the mean over the batch."""
        return float(handle)

    def weights(self):
        """Return the current weights of the modules, in canonical layout."""
        return native.weights(self._layers, self._model.network())

    def native_layers(self):
        """Return the name, the output shape and the number of trained weights of every layer."""
        network = self._model.network()
        return [
            (layer.name, native.canonical_shape(value.shape[1:]), native.trainable(layer, network))
            for layer, value in zip(self._layers, self._traced())
        ]

    def predict(self, inputs):
        """Return the logits of a NumPy batch in evaluation mode."""
        return numpy.asarray(self._infer(*self._model.state[:2], self._placed(inputs)))

    def product(self, left, right):
        """Return the product of two NumPy matrices, multiplied as the steps multiply."""
        left, right = (jnp.asarray(each, self._compute_dtype) for each in (left, right))
        return numpy.asarray(jax.jit(jnp.matmul)(left, right).astype(jnp.float32))

    def _traced(self):
        """Return shape and type of what each layer yields for one sample, as JAX infers them without computing."""
        return jax.eval_shape(self._model.values, *self._model.state[:2], self._placed(self._zeros()))

    def devices_in_use(self):
        """Return the device of a tensor that is computed as the steps are, for each device of the session."""
        if self._in_use is None:  # once, as a GPU that is lost later takes no finished measurement with it
            self._in_use = self._replicas.names() if self._replicas else [native.computed_on()]
        return self._in_use

    def device_in_use(self):
        """Return the first of them."""
        return self.devices_in_use()[0]

    def facts(self):
        """Return the facts that JAX reports.

        Threads are those of XLA's pool on the CPU, counted. The precision is that of a weight and of what its layer
        yields.
        """
        weighted = next(value for layer, value in zip(self._layers, self._traced()) if layer.parameters)
        matmul_precision = jax.config.jax_default_matmul_precision
        facts = {
            "framework_version": jax.__version__,
            "layout": "channels_last",
            "precision": precision_fact(self._model.state[0][0].dtype.name, weighted.dtype.name),
            "tf32": self._gpu and self._precision in IN_FLOAT32 and matmul_precision != "highest",
            "matmul_precision": matmul_precision,
            "threads": pool_threads(),
            "device": self.device_in_use(),
            "execution": "jax.jit",
        }
        facts.update(operators(self._layers, jax_transformer.OPERATORS))
        if self._replicas is None:
            return facts
        names = self.devices_in_use()
        return dict(facts, parallel=parallel.facts(self._workload, names, AVERAGING, RUNNING_VALUES))

    def peak_device_bytes(self):
        """Return the highest use of XLA's own allocator on a GPU, in bytes."""
        if self._replicas:
            return self._replicas.peak_bytes() if self._gpu else None
        return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use") if self._gpu else None


class _Generator(_Session):
    """A session whose batches are prompts, and whose steps choose tokens."""

    def __init__(self, workload):
        super().__init__(workload)
        self.batches = [inputs[:, : workload.generation.prompt] for inputs, _ in self.batches]
        self._prefill, self._decode = jax_decoding.programs(self._layers, self._model.evaluating)
        # The last token has no step after it.
        capacity = sum(workload.generation) - 1
        self._caches = jax_decoding.caches(self._layers, workload.batch_size, capacity, self._compute_dtype)
        self._position = None

    def prefill(self, prompt):
        """Begin anew with a prompt, and choose the token after it."""
        return self._kept(self._prefill(*self._model.state[:2], self._caches, prompt))

    def decode(self, step):
        """Choose the token after that of a step."""
        return self._kept(self._decode(*self._model.state[:2], self._caches, step.tokens, self._position))

    def _kept(self, returned):
        tokens, logits, self._caches, self._position = returned
        return generation.Step(tokens, logits)

    @staticmethod
    def tokens(step):
        """Copy the tokens of a step to the host."""
        return numpy.asarray(step.tokens)

    @staticmethod
    def logits(step):
        """Copy the logits of a step to the host."""
        return numpy.asarray(step.logits)


class _Model:
    """A network split into a fixed definition and arrays, so that a step is a function of arrays.

    `state` holds the current arrays: weights, other variables (running values, random keys), and from the first
    training step on those of the optimizer.
    """

    def __init__(self, network, workload):
        self._layers, self._squares = workload.layers, workload.loss == "mean_squared_error"
        network.eval()
        self._evaluation = nnx.graphdef(network)
        network.train()
        self._training, weights, variables = nnx.split(network, nnx.Param, ...)
        leaves, self._weights_tree = jax.tree.flatten(weights)
        variable_leaves, self._variables_tree = jax.tree.flatten(variables)
        self.state = [leaves, variable_leaves]

    def network(self):
        """Return the modules with the current arrays, in evaluation mode."""
        return self._merged(self._evaluation, *self.state[:2])

    def values(self, weights, variables, inputs):
        """Return what each layer yields in evaluation mode."""
        return self._merged(self._evaluation, weights, variables).values(inputs)

    def logits(self, weights, variables, inputs):
        """Return the logits in evaluation mode, in float32 whatever computed them."""
        return self.values(weights, variables, inputs)[-1].astype(jnp.float32)

    def loss(self, weights, variables, inputs, labels):
        """Return the mean loss in training mode, and the other variables after it."""
        network = self._merged(self._training, weights, variables)
        logits = network(inputs).astype(jnp.float32)
        if self._squares:
            loss = jnp.square(logits - labels).mean()
        else:
            loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        loss += native.l2_terms(self._layers, network)
        return loss, jax.tree.leaves(nnx.state(network, nnx.Not(nnx.Param)))

    def evaluating(self, weights, variables):
        """Return the modules with these arrays, in evaluation mode."""
        return self._merged(self._evaluation, weights, variables)

    def _merged(self, definition, weights, variables):
        trees = self._weights_tree.unflatten(weights), self._variables_tree.unflatten(variables)
        return nnx.merge(definition, *trees)


def configure(threads, gpu, precision):
    """Change the settings that must be in place before JAX starts its backend."""
    jax.config.update("jax_platforms", "cuda" if gpu else "cpu")
    # By default JAX may round the operands of products to TF32 on a GPU.
    if precision in _MATMUL_PRECISIONS:
        jax.config.update("jax_default_matmul_precision", _MATMUL_PRECISIONS[precision])
    if threads:
        # XLA's CPU client has no other setting; without it there is one thread for each CPU of the process.
        os.environ["NPROC"] = str(threads)
    # Grow as needed: preallocated memory would hide what the model takes.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _capability(gpu):
    """Return the compute capability of the first GPU as two numbers, or None on a CPU."""
    return tuple(int(part) for part in jax.devices()[0].compute_capability.split(".")) if gpu else None


def pool_threads():
    """Count the threads of XLA's pool for single operations by their name. Returns None if there are none."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % thread, encoding="ascii") as file:
            count += file.read().strip() == "tf_XLAEigen"
    return count or None


def _training_step(model, optimizer, replicas):
    state = model.state
    state.append(optimizer.init(state[0]))
    graded = jax.value_and_grad(model.loss, has_aux=True)
    if replicas:
        state[2] = replicas.replicated(state[2])
        graded = replicas.averaged(graded)

    def train(weights, variables, momenta, inputs, labels):
        (loss, variables), gradients = graded(weights, variables, inputs, labels)
        updates, momenta = optimizer.update(gradients, momenta, weights)
        return optax.apply_updates(weights, updates), variables, momenta, loss

    train = jax.jit(replicas.spread(train) if replicas else train, donate_argnums=(0, 1, 2))

    def step(batch):
        state[0], state[1], state[2], loss = train(*state, *batch)
        return loss

    return step


def _inference_step(infer, state):
    weights, variables = state

    def step(batch):
        return infer(weights, variables, batch[0])

    return step


def _optimizer(settings):
    rate, decay = settings["learning_rate"], settings.get("decay")
    if decay:
        rate = functools.partial(_decayed, rate, decay)
    if settings["name"] == "adadelta":
        return optax.adadelta(rate, rho=settings["rho"], eps=settings["epsilon"])
    if settings["name"] == "adam":
        return optax.adam(rate, b1=settings["beta_1"], b2=settings["beta_2"], eps=settings["epsilon"])
    if settings["name"] == "rmsprop":
        return optax.rmsprop(rate, decay=settings["rho"], eps=settings["epsilon"] ** 2, eps_in_sqrt=True)
    return optax.sgd(rate, momentum=settings["momentum"] or None)


def _decayed(rate, decay, count):
    return rate / (1 + decay * count)
