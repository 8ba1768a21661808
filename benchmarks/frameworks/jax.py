"""JAX with flax's layers and optax' optimizers, one `jax.jit` per step, without TF32; channels last.

The layers are flax' NNX modules, the interface that flax recommends for new code: they own their weights, so the
framework itself can be asked what it made, and their LSTM cell holds its gates side by side as one product takes them.
NNX's own transformations walk the modules in Python at every call; here they are split once, and a step is a plain
function of arrays, which costs least.
"""

import functools
import os

import jax
import numpy
import optax
from flax import nnx
from jax import numpy as jnp

from benchmarks.native import PRECISIONS, one_of, precision_fact
from benchmarks.native import jax as native

OPTIONS = {"layout": "auto", "precision": "fp32"}
LAYOUTS = ("auto", "channels_last")
"""Flax has layers for channels last alone; XLA lays values out as it likes."""


def start(workload):
    """Build the model with its optimizer, and place weights and batches."""
    return _Session(workload)


class _Session:
    short_blocks = False

    def __init__(self, workload):
        self._gpu = workload.one_device()
        self._precision = one_of(workload.options, "precision", PRECISIONS)
        one_of(workload.options, "layout", LAYOUTS)
        _configure(workload.threads, self._gpu, self._precision)
        self._layers, self._input_shape = workload.layers, native.native_shape(workload.input_shape)
        self._input_dtype = jnp.bfloat16 if self._precision == "bf16" else jnp.float32
        compute = jnp.float32 if self._precision == "fp32" else jnp.bfloat16
        network = native.Network(self._layers, self._input_dtype, compute, workload.seed)
        native.set_weights(self._layers, network, workload.weights())
        self._model = _Model(network)
        self.parameters = sum(each.size for each in self._model.state[0])
        self.batches = [(self._placed(inputs), jnp.asarray(labels)) for inputs, labels in workload.batches()]
        self._infer = jax.jit(self._model.logits)
        if workload.training:
            self.step = _training_step(self._model, _optimizer(workload.optimizer))
        else:
            self.step = _inference_step(self._infer, self._model.state)

    def _placed(self, inputs):
        return jnp.asarray(native.native_inputs(inputs), self._input_dtype)

    def synchronise(self, handle):
        """Wait for the last step's result, and for the weights behind it."""
        jax.block_until_ready((handle, self._model.state))

    @staticmethod
    def fetch(handle):
        """Bring the logits to the host."""
        return numpy.asarray(handle)

    @staticmethod
    def loss(handle):
        """Mean over the batch."""
        return float(handle)

    def weights(self):
        """What the modules hold now, in canonical layout."""
        return native.weights(self._layers, self._model.network())

    def native_layers(self):
        """Every layer: its name, its output shape, and the weights it trains."""
        network = self._model.network()
        return [
            (layer.name, native.canonical_shape(value.shape[1:]), native.trainable(layer, network))
            for layer, value in zip(self._layers, self._traced())
        ]

    def predict(self, inputs):
        """Logits of a NumPy batch in evaluation mode."""
        return numpy.asarray(self._infer(*self._model.state[:2], self._placed(inputs)))

    def _traced(self):
        """Shape and type of what each layer yields for one sample, as JAX finds them without computing."""
        sample = jax.ShapeDtypeStruct((1,) + self._input_shape, self._input_dtype)
        return jax.eval_shape(self._model.values, *self._model.state[:2], sample)

    def facts(self):
        """Threads are those of XLA's pool on the CPU, counted; the precision is a weight's and its layer's."""
        weighted = next(value for layer, value in zip(self._layers, self._traced()) if layer.parameters)
        asked = jax.config.jax_default_matmul_precision
        return {
            "framework_version": jax.__version__,
            "layout": "channels_last",
            "precision": precision_fact(self._model.state[0][0].dtype.name, weighted.dtype.name),
            "tf32": self._gpu and self._precision == "fp32" and asked != "highest",
            "matmul_precision": asked,
            "threads": _threads(),
            "device": str(jax.devices()[0]),
            "execution": "jax.jit",
        }

    def peak_device_bytes(self):
        """Highest use of XLA's own allocator on the GPU."""
        return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use") if self._gpu else None


class _Model:
    """A network split into what is fixed and arrays, so that a step is a function of arrays.

    `state` holds the arrays as they are now: weights, other variables (running values, random keys), and from the
    first training step on the optimizer's.
    """

    def __init__(self, network):
        network.eval()
        self._evaluation = nnx.graphdef(network)
        network.train()
        self._training, weights, others = nnx.split(network, nnx.Param, ...)
        leaves, self._weights_tree = jax.tree.flatten(weights)
        other_leaves, self._others_tree = jax.tree.flatten(others)
        self.state = [leaves, other_leaves]

    def network(self):
        """The modules with what they hold now, in evaluation mode."""
        return self._merged(self._evaluation, *self.state[:2])

    def values(self, weights, others, inputs):
        """What each layer yields in evaluation mode."""
        return self._merged(self._evaluation, weights, others).values(inputs)

    def logits(self, weights, others, inputs):
        """Logits in evaluation mode, in float32 whatever computed them."""
        return self.values(weights, others, inputs)[-1].astype(jnp.float32)

    def loss(self, weights, others, inputs, labels):
        """Mean loss in training mode, and the other variables as they are afterwards."""
        network = self._merged(self._training, weights, others)
        logits = network(inputs).astype(jnp.float32)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, jax.tree.leaves(nnx.state(network, nnx.Not(nnx.Param)))

    def _merged(self, definition, weights, others):
        return nnx.merge(definition, self._weights_tree.unflatten(weights), self._others_tree.unflatten(others))


def _configure(threads, gpu, precision):
    """Settings that must stand before JAX starts its backend."""
    jax.config.update("jax_platforms", "cuda" if gpu else "cpu")
    if precision == "fp32":
        # Else JAX may round the operands of products to TF32 on a GPU.
        jax.config.update("jax_default_matmul_precision", "highest")
    if threads:
        # The only way to tell XLA's CPU client; without it there is one thread for each CPU of the process.
        os.environ["NPROC"] = str(threads)
    # Grow as needed: preallocated memory would hide what the model takes.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _threads():
    """How many threads XLA's pool for single operations has, counted by their name; None where there are none."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % thread, encoding="ascii") as file:
            count += file.read().strip() == "tf_XLAEigen"
    return count or None


def _training_step(model, optimizer):
    state = model.state
    state.append(optimizer.init(state[0]))

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def train(weights, others, momenta, inputs, labels):
        (loss, others), gradients = jax.value_and_grad(model.loss, has_aux=True)(weights, others, inputs, labels)
        updates, momenta = optimizer.update(gradients, momenta, weights)
        return optax.apply_updates(weights, updates), others, momenta, loss

    def step(batch):
        state[0], state[1], state[2], loss = train(*state, *batch)
        return loss

    return step


def _inference_step(infer, state):
    weights, others = state

    def step(batch):
        return infer(weights, others, batch[0])

    return step


def _optimizer(settings):
    rate = settings["learning_rate"]
    if settings["name"] == "adam":
        return optax.adam(rate, b1=settings["beta_1"], b2=settings["beta_2"], eps=settings["epsilon"])
    if settings["name"] == "rmsprop":
        return optax.rmsprop(rate, decay=settings["rho"], eps=settings["epsilon"] ** 2, eps_in_sqrt=True)
    return optax.sgd(rate, momentum=settings["momentum"] or None)
