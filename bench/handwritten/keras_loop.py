"""LeNet in multi-backend Keras 2 or in Keras 3, by `fit` over NumPy arrays in an order that is fixed."""

import argparse
import time

import keras
import learnable
import numpy
from keras import layers

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()

IS_KERAS_3 = int(keras.__version__.split(".")[0]) > 2
BACKEND = keras.config.backend() if IS_KERAS_3 else keras.backend.backend()
LAST = IS_KERAS_3 or BACKEND == "tensorflow"


def set_threads():
    if BACKEND == "tensorflow" and IS_KERAS_3:
        import tensorflow

        tensorflow.config.threading.set_intra_op_parallelism_threads(args.threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(args.threads)
    elif BACKEND == "tensorflow":
        import tensorflow

        one = {"intra_op_parallelism_threads": args.threads, "inter_op_parallelism_threads": args.threads}
        keras.backend.set_session(tensorflow.Session(config=tensorflow.ConfigProto(**one)))
    elif BACKEND == "cntk":
        import cntk

        cntk.cntk_py.set_max_num_cputhreads(args.threads)
    elif BACKEND == "torch":
        import torch

        torch.set_num_threads(args.threads)


def cross_entropy(labels, logits):
    return keras.backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)


class Speeds(keras.callbacks.Callback):
    def on_epoch_begin(self, _epoch, logs=None):
        self.tic = time.perf_counter()

    def on_epoch_end(self, _epoch, logs=None):
        print(args.every * args.batch / (time.perf_counter() - self.tic))


def samples(steps):
    """Return inputs and labels of so many steps, round and round."""
    chosen = [batches[position % len(batches)] for position in range(steps)]
    return tuple(numpy.concatenate(parts) for parts in zip(*chosen))


set_threads()
if not IS_KERAS_3:
    keras.backend.set_image_data_format("channels_last" if LAST else "channels_first")
batches = [(x.transpose(0, 2, 3, 1).copy() if LAST else x, y) for x, y in learnable.batches(args.batch)]
first = {} if IS_KERAS_3 else {"input_shape": batches[0][0].shape[1:]}
model = keras.models.Sequential(
    [
        *([layers.Input(batches[0][0].shape[1:])] if IS_KERAS_3 else []),
        layers.Conv2D(6, 5, activation="relu", **first),
        layers.AveragePooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.AveragePooling2D(),
        layers.Flatten(),
        layers.Dense(120, activation="relu"),
        layers.Dense(84, activation="relu"),
        layers.Dense(10),
    ]
)
adam = keras.optimizers.Adam(**{"learning_rate" if IS_KERAS_3 else "lr": 0.001})
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True) if IS_KERAS_3 else cross_entropy
model.compile(optimizer=adam, loss=loss)

fit = {"batch_size": args.batch, "shuffle": False, "verbose": 0}
model.fit(*samples(args.warmup), epochs=1, **fit)
model.fit(*samples(args.every), epochs=args.steps // args.every, callbacks=[Speeds()], **fit)
