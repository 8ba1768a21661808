"""LeNet in Keras 3, and in Keras 2 on every backend, by `fit` over NumPy arrays in an order that is fixed.

All blocks are steps of one epoch, because `fit` begins an epoch with work that a user has once in hundreds of steps.
"""

import argparse
import os

import keras
import learnable
import numpy
from keras import layers

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()

IS_KERAS_3 = int(keras.__version__.split(".")[0]) > 2
BACKEND = keras.backend.backend()
LAST = IS_KERAS_3 or BACKEND == "tensorflow"


def set_threads():
    """Set the threads of a backend. Theano and MXNet take them from their variables."""
    if BACKEND == "tensorflow":
        import tensorflow

        if IS_KERAS_3:
            tensorflow.config.threading.set_intra_op_parallelism_threads(args.threads)
            tensorflow.config.threading.set_inter_op_parallelism_threads(args.threads)
        else:
            both = {"intra_op_parallelism_threads": args.threads, "inter_op_parallelism_threads": args.threads}
            keras.backend.set_session(tensorflow.Session(config=tensorflow.ConfigProto(**both)))
    elif BACKEND == "torch":
        import torch

        torch.set_num_threads(args.threads)
    elif BACKEND == "jax":
        os.environ["NPROC"] = str(args.threads)  # read when the first array makes JAX start its backend
    elif BACKEND == "cntk":
        import cntk

        cntk.cntk_py.set_max_num_cputhreads(args.threads)


def cross_entropy(labels, logits):
    return keras.backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)


class Speeds(keras.callbacks.Callback):
    """A clock that is read after the warm-up and after each block."""

    tic = None

    def on_batch_begin(self, batch, logs=None):
        if batch >= args.warmup and (batch - args.warmup) % args.every == 0:
            self.read()

    def on_epoch_end(self, epoch, logs=None):
        self.read()

    def read(self):
        if IS_KERAS_3:
            self.model.optimizer.iterations.numpy()  # JAX may not have ended the last step
        elif BACKEND == "mxnet":
            import mxnet

            mxnet.nd.waitall()  # the loss is there before the update
        if self.tic is not None:
            learnable.report(args.every * args.batch, self.tic)
        self.tic = learnable.now()


set_threads()
keras.backend.set_image_data_format("channels_last" if LAST else "channels_first")
batches = [(x.transpose(0, 2, 3, 1).copy() if LAST else x, y) for x, y in learnable.batches(args.batch)]
ring = [batches[step % len(batches)] for step in range(args.warmup + args.steps)]
inputs, labels = (numpy.concatenate(parts) for parts in zip(*ring))

model = keras.models.Sequential(
    [
        layers.Conv2D(6, 5, activation="relu", input_shape=inputs.shape[1:]),
        layers.AveragePooling2D(2),
        layers.Conv2D(16, 3, activation="relu"),
        layers.AveragePooling2D(2),
        layers.Flatten(),
        layers.Dense(120, activation="relu"),
        layers.Dense(84, activation="relu"),
        layers.Dense(10),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True) if IS_KERAS_3 else cross_entropy
model.compile(optimizer=keras.optimizers.Adam(0.001), loss=loss)
model.fit(inputs, labels, batch_size=args.batch, epochs=1, shuffle=False, verbose=0, callbacks=[Speeds()])
