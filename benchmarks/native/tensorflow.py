"""Keras layers on TensorFlow for the vocabulary, and the places of their weights."""

import tensorflow as tf

from benchmarks.vocabulary.weights import channel_first_rows, channels_last_rows

LAYERS = tf.keras.layers


class Builder:
    """A maker of the layers of one model, in one data format, under one precision policy, for XLA or not."""

    def __init__(self, channels_last, policy, xla):
        self.channels_last = channels_last
        self._format = {"data_format": "channels_last" if channels_last else "channels_first"}
        self._policy = {"dtype": tf.keras.mixed_precision.Policy(policy)}
        self._xla = xla

    def network(self, layers, input_shape, input_dtype):
        """Return the Keras model of recorded layers, and its native layers in their order."""
        inputs = tf.keras.Input(self.native_shape(input_shape), dtype=input_dtype)
        values, made = [inputs], []
        for layer in layers:
            made.append(getattr(self, "_" + layer.kind)(layer.settings))
            taken = [values[position] for position in layer.inputs]
            values.append(made[-1](taken if len(taken) > 1 else taken[0]))
        return tf.keras.Model(inputs, values[-1]), made

    def native_shape(self, shape):
        """Return an image's shape as it runs here, without the batch, and any other shape as it is."""
        return tuple(shape[1:]) + tuple(shape[:1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def canonical_shape(self, shape):
        """Return the canonical shape of a native one."""
        return tuple(shape[-1:]) + tuple(shape[:-1]) if self.channels_last and len(shape) == 3 else tuple(shape)

    def native_inputs(self, inputs):
        """Return a NumPy batch of canonical images in the layout that runs here, and any other batch as it is."""
        return inputs.transpose(0, 2, 3, 1) if self.channels_last and inputs.ndim == 4 else inputs

    def _conv2d(self, settings):
        # TensorFlow's own `same` is that of the vocabulary, also if strides make it asymmetric.
        return LAYERS.Conv2D(
            settings["filters"], settings["kernel"], strides=settings["stride"], use_bias=settings["bias"],
            padding="same" if any(settings["pads"]) else "valid", **self._format, **self._policy
        )  # fmt: skip

    def _dense(self, settings):
        return LAYERS.Dense(settings["units"], **self._policy)

    def _max_pool(self, settings):
        return LAYERS.MaxPooling2D(settings["size"], strides=settings["stride"], **self._format, **self._policy)

    def _average_pool(self, settings):
        return LAYERS.AveragePooling2D(settings["size"], **self._format, **self._policy)

    def _global_average_pool(self, _settings):
        return LAYERS.GlobalAveragePooling2D(**self._format, **self._policy)

    def _batch_norm(self, settings):
        rule = {"momentum": settings["momentum"], "epsilon": settings["epsilon"]}
        return LAYERS.BatchNormalization(axis=-1 if self.channels_last else 1, **rule, **self._policy)

    def _add(self, _settings):
        return LAYERS.Add(**self._policy)

    def _lstm(self, settings):
        # The default, an orthogonal matrix, cannot be drawn in bfloat16, and the harness sets the weights anyway.
        rule = {"recurrent_initializer": "glorot_uniform"}
        rule.update(self._policy)
        if not self._xla:
            return LAYERS.LSTM(settings["units"], return_sequences=settings["sequences"], **rule)
        # The LSTM layer may call cuDNN's, which XLA cannot compile; the same cell in a plain loop is XLA's to fuse.
        cell = LAYERS.LSTMCell(settings["units"], **rule)
        return LAYERS.RNN(cell, return_sequences=settings["sequences"], **self._policy)

    def _flatten(self, _settings):
        # Values stay as they lie in either layout. With `channels_first` Keras would transpose them to channels last.
        return LAYERS.Flatten(data_format="channels_last", **self._policy)

    def _relu(self, _settings):
        return LAYERS.ReLU(**self._policy)

    def _dropout(self, settings):
        return LAYERS.Dropout(settings["rate"], **self._policy)

    def set_weights(self, layers, made, weights):
        """Set canonical arrays into the native layers. Running values of batch norm stay as Keras starts them."""
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [weights[parameter.name] for parameter in layer.parameters]
                arrays[0] = self._rows(layer, arrays[0], channels_last_rows)
                native.set_weights(arrays + native.get_weights()[len(arrays) :])

    def weights(self, layers, made):
        """Return the weights of the native layers as canonical float32 arrays, by parameter name."""
        weights = {}
        for layer, native in zip(layers, made):
            if layer.parameters:
                arrays = [array.astype("float32") for array in native.get_weights()]
                arrays[0] = self._rows(layer, arrays[0], channel_first_rows)
                weights.update((parameter.name, array) for parameter, array in zip(layer.parameters, arrays))
        return weights

    def _rows(self, layer, array, permute):
        flattened = layer.settings.get("flattened") if self.channels_last else None
        return permute(array, flattened)
