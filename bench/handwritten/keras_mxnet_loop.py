"""LeNet in multi-backend Keras 2 on MXNet, by `train_on_batch`."""

import argparse
import os
import time

os.environ["KERAS_BACKEND"] = "mxnet"

import keras
import learnable
import mxnet as mx
from keras import backend, layers

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()

backend.set_image_data_format("channels_first")
model = keras.models.Sequential(
    [
        layers.Conv2D(6, 5, activation="relu", input_shape=(1, 28, 28)),
        layers.AveragePooling2D(),
        layers.Conv2D(16, 3, activation="relu"),
        layers.AveragePooling2D(),
        layers.Flatten(),
        layers.Dense(120, activation="relu"),
        layers.Dense(84, activation="relu"),
        layers.Dense(10),
    ]
)


def cross_entropy(labels, logits):
    return backend.sparse_categorical_crossentropy(labels, logits, from_logits=True)


model.compile(optimizer=keras.optimizers.Adam(lr=0.001), loss=cross_entropy, context=["cpu"])
batches = [(x, y.reshape(-1, 1)) for x, y in learnable.batches(args.batch)]


def train(first, count):
    for i in range(first, first + count):
        model.train_on_batch(*batches[i % len(batches)])
    mx.nd.waitall()


train(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = time.perf_counter()
    train(start, args.every)
    print(args.every * args.batch / (time.perf_counter() - tic))
