"""Flax layers (its NNX interface) for the vocabulary, channels last, and the places of their weights."""

import jax
from flax import nnx
from jax import numpy as jnp

from benchmarks.native import parts
from benchmarks.native.transformers import jax as jax_transformer
from benchmarks.vocabulary import losses
from benchmarks.vocabulary.weights import channel_first_rows, channels_last_rows


def computed_on():
    """Return the device of an array that is computed."""
    computed = jnp.zeros(1) + 1
    return str(next(iter(computed.devices())) if hasattr(computed, "devices") else computed.device())


class FlaxLstm(nnx.Module):
    """An LSTM over (batch, time, features), made of flax's scan and its cell with one product for all gates."""

    def __init__(self, layer, dtypes, rngs):
        features, settings = layer.input_shape[1], layer.settings
        self.units, self.sequences, self.dtype = settings["units"], settings["sequences"], dtypes["dtype"]
        self.loop = _lstm_loop(features, self.units, dtypes, rngs)
        backward = {"reverse": True, "keep_order": True}
        is_alone = not settings["bidirectional"]
        self.backward = None if is_alone else _lstm_loop(features, self.units, dtypes, rngs, **backward)

    def __call__(self, inputs):
        """Return every output, or the last one."""
        if self.backward is None:
            return self._yielded(self.loop, inputs)
        return jnp.concatenate([self._yielded(loop, inputs) for loop in (self.loop, self.backward)], axis=-1)

    def _yielded(self, loop, inputs):
        zeros = jnp.zeros((inputs.shape[0], self.units), self.dtype)
        (_, hidden), outputs = loop(inputs, initial_carry=(zeros, zeros))
        return outputs if self.sequences else hidden


class FlaxGru(nnx.Module):
    """A GRU over (batch, time, features), made of flax's scan and its cell, whose one bias is the input's."""

    def __init__(self, features, units, sequences, dtypes, rngs):
        cell = nnx.GRUCell(features, units, recurrent_kernel_init=_ZEROS, rngs=rngs, **dtypes)
        self.loop = nnx.RNN(cell, return_carry=True)
        self.units, self.sequences, self.dtype = units, sequences, dtypes["dtype"]

    def __call__(self, inputs):
        """Return every output, or the last one."""
        zeros = jnp.zeros((inputs.shape[0], self.units), self.dtype)
        hidden, outputs = self.loop(inputs, initial_carry=zeros)
        return outputs if self.sequences else hidden


class FlaxSeparable(nnx.Module):
    """A convolution of each channel by itself, and one of all channels at each position."""

    def __init__(self, layer, dtypes, rngs):
        settings, channels = layer.settings, layer.input_shape[0]
        top, bottom, left, right = settings["pads"]
        self.depthwise = nnx.Conv(
            channels, channels, (settings["kernel"],) * 2, strides=settings["stride"],
            padding=[(top, bottom), (left, right)], feature_group_count=channels, use_bias=False,
            kernel_init=_ZEROS, rngs=rngs, **dtypes
        )  # fmt: skip
        self.pointwise = nnx.Conv(
            channels, settings["filters"], (1, 1), use_bias=settings["bias"], kernel_init=_ZEROS, rngs=rngs, **dtypes
        )

    def __call__(self, inputs):
        """Return what both yield, one after the other."""
        return self.pointwise(self.depthwise(inputs))


class FlaxTimeDistributed(nnx.Module):
    """A module that runs on each step of a sequence, or on each row of an image, as one larger batch."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, inputs):
        """Map (batch, time, features), or (batch, height, width, channels), to (batch, steps, units)."""
        outputs = self.inner(inputs.reshape((-1,) + inputs.shape[2:]))
        return outputs.reshape(inputs.shape[:2] + outputs.shape[1:])


class RecordedModule(nnx.Module):
    """A recorded model with one attribute for each layer that has weights or a state.

    The other layers are functions. Its Python runs only while JAX traces it.
    """

    def __init__(self, layers, weights_dtype, compute_dtype, seed):
        dtypes = {"dtype": compute_dtype, "param_dtype": weights_dtype}
        rngs = nnx.Rngs(seed)
        walk = []
        for layer in layers:
            function = _FUNCTIONS[layer.kind](layer.settings) if layer.kind in _FUNCTIONS else None
            if function is None:
                setattr(self, layer.name, _MODULES[layer.kind](layer, dtypes, rngs))
            walk.append((layer.name, function, layer.inputs))
        self.walk = tuple(walk)

    def __call__(self, inputs):
        """Return the logits of a batch."""
        return self.values(inputs)[-1]

    def values(self, inputs):
        """Return what each layer yields, in recorded order."""
        values = {-number: each for number, each in enumerate(parts(inputs))}
        for position, (name, function, taken) in enumerate(self.walk, 1):
            values[position] = (function or getattr(self, name))(*[values[each] for each in taken])
        return [values[position] for position in range(1, len(self.walk) + 1)]


# Nothing is drawn, because the harness sets the weights, and flax draws no recurrent matrix in bfloat16.
_ZEROS = nnx.initializers.zeros_init()


def _conv2d(layer, dtypes, rngs):
    settings = layer.settings
    top, bottom, left, right = settings["pads"]
    return nnx.Conv(
        layer.input_shape[0], settings["filters"], (settings["kernel"],) * 2, strides=settings["stride"],
        padding=[(top, bottom), (left, right)], use_bias=settings["bias"], kernel_init=_ZEROS, rngs=rngs, **dtypes
    )  # fmt: skip


def _dense(layer, dtypes, rngs):
    settings = layer.settings
    rule = dict(dtypes, use_bias=settings["bias"], kernel_init=_ZEROS, rngs=rngs)
    return nnx.Linear(layer.input_shape[-1], settings["units"], **rule)


def _batch_norm(layer, dtypes, rngs):
    rule = {"momentum": layer.settings["momentum"], "epsilon": layer.settings["epsilon"]}
    return nnx.BatchNorm(layer.input_shape[0], rngs=rngs, **rule, **dtypes)


def _lstm_loop(features, units, dtypes, rngs, **direction):
    cell = nnx.OptimizedLSTMCell(features, units, recurrent_kernel_init=_ZEROS, rngs=rngs, **dtypes)
    return nnx.RNN(cell, return_carry=True, **direction)


def _gru(layer, dtypes, rngs):
    return FlaxGru(layer.input_shape[1], layer.settings["units"], layer.settings["sequences"], dtypes, rngs)


def _embedding(layer, dtypes, rngs):
    return nnx.Embed(layer.settings["vocabulary"], layer.settings["units"], rngs=rngs, **dtypes)


def _time_distributed(layer, dtypes, rngs):
    inner = layer.settings["layer"]
    return FlaxTimeDistributed(_MODULES[inner.kind](inner, dtypes, rngs))


_MODULES = {
    "gru": _gru,
    "embedding": _embedding,
    "separable_conv2d": FlaxSeparable,
    "time_distributed": _time_distributed,
    "conv2d": _conv2d,
    "dense": _dense,
    "batch_norm": _batch_norm,
    "lstm": FlaxLstm,
    "dropout": lambda layer, _dtypes, rngs: nnx.Dropout(layer.settings["rate"], rngs=rngs),
}
_MODULES.update(jax_transformer.MODULES)


def _max_pool(settings):
    top, bottom, left, right = settings["pads"]
    window, strides = (settings["size"],) * 2, (settings["stride"],) * 2
    padding = ((top, bottom), (left, right))
    return lambda x: nnx.max_pool(x, window_shape=window, strides=strides, padding=padding)


def _average_pool(settings):
    size = (settings["size"],) * 2
    return lambda x: nnx.avg_pool(x, window_shape=size, strides=size)


_FUNCTIONS = {
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": lambda _settings: lambda x: x.mean(axis=(1, 2)),
    "add": lambda _settings: lambda a, b: a + b,
    "flatten": lambda _settings: lambda x: x.reshape(x.shape[0], -1),
    "relu": lambda _settings: nnx.relu,
    "sigmoid": lambda _settings: nnx.sigmoid,
    "tanh": lambda _settings: jnp.tanh,
    "softmax": lambda _settings: nnx.softmax,
    "concatenate": lambda _settings: lambda *values: jnp.concatenate(values, axis=-1),
    "repeat": lambda settings: lambda x: jnp.repeat(x[:, None], settings["times"], axis=1),
}
_FUNCTIONS.update(jax_transformer.FUNCTIONS)


# The variables of each kind, in canonical order.
_VARIABLES = {
    "conv2d": lambda module: (module.kernel, module.bias),
    "dense": lambda module: (module.kernel, module.bias),
    "batch_norm": lambda module: (module.scale, module.bias),
    "lstm": lambda module: tuple(
        variable
        for loop in (module.loop, module.backward)
        if loop is not None
        for variable in (loop.cell.dense_i.kernel, loop.cell.dense_h.kernel, loop.cell.dense_h.bias)
    ),
    "gru": lambda module: (
        module.loop.cell.dense_i.kernel,
        module.loop.cell.dense_h.kernel,
        module.loop.cell.dense_i.bias,
    ),
    "embedding": lambda module: (module.embedding,),
    "separable_conv2d": lambda module: (module.depthwise.kernel, module.pointwise.kernel, module.pointwise.bias),
}
_VARIABLES.update(jax_transformer.VARIABLES)


def _variables(layers, network):
    """Yield each parameter's name, its variable, and the shape of a flattened image or None.

    The shape is that of the image which a flatten took before a dense weight.
    """
    for layer in layers:
        if layer.parameters:
            module, kind = getattr(network, layer.name), layer.kind
            if kind == "time_distributed":
                module, kind = module.inner, layer.settings["layer"].kind
            variables = _VARIABLES[kind](module)
            for number, (parameter, variable) in enumerate(zip(layer.parameters, variables)):
                yield parameter.name, variable, None if number else layer.settings.get("flattened")


def set_weights(layers, network, weights):
    """Set canonical arrays into the variables, in their data type."""
    for name, variable, flattened in _variables(layers, network):
        array = _depthwise(name, channels_last_rows(weights[name], flattened))
        variable.set_value(jnp.asarray(array, variable.get_value().dtype))


def weights(layers, network):
    """Return the values of the variables as canonical float32 arrays, by parameter name."""
    return {
        name: channel_first_rows(_depthwise(name, jax.device_get(variable.get_value()).astype("float32")), flattened)
        for name, variable, flattened in _variables(layers, network)
    }


def _depthwise(name, array):
    """Turn a depthwise weight from (height, width, in, 1) to flax's (height, width, 1, in), or back."""
    return array.swapaxes(2, 3) if name.endswith(".depthwise") else array


def l2_terms(layers, network):
    """Return the sum of the L2 terms of a network's weights, or 0 without any."""
    factors = dict(losses.l2_terms(layers))
    squares = [
        factors[name] * jnp.sum(jnp.square(variable.get_value()))
        for name, variable, _ in _variables(layers, network)
        if name in factors
    ]
    return sum(squares)


def trainable(layer, network):
    """Count the weights that the module of a layer trains."""
    state = nnx.state(getattr(network, layer.name), nnx.Param) if hasattr(network, layer.name) else ()
    return sum(leaf.size for leaf in jax.tree.leaves(state))


def native_inputs(inputs):
    """Return a NumPy batch of canonical images as channels last, and any other batch as it is."""
    return inputs.transpose(0, 2, 3, 1) if inputs.ndim == 4 else inputs


def native_shape(shape):
    """Return an image's canonical shape as channels last, and any other shape as it is."""
    return tuple(shape[1:]) + tuple(shape[:1]) if len(shape) == 3 else tuple(shape)


def canonical_shape(shape):
    """Return the canonical shape of a native one."""
    return tuple(shape[-1:]) + tuple(shape[:-1]) if len(shape) == 3 else tuple(shape)
