"""LeNet in Keras with a compiled TensorFlow training step."""

import argparse
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import learnable
import tensorflow as tf

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)

layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(6, 5, activation="relu"),
        layers.AveragePooling2D(2),
        layers.Conv2D(16, 3, activation="relu"),
        layers.AveragePooling2D(2),
        layers.Flatten(),
        layers.Dense(120, activation="relu"),
        layers.Dense(84, activation="relu"),
        layers.Dense(10),
    ]
)
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.001)
batches = [(tf.constant(x.transpose(0, 2, 3, 1)), tf.constant(y)) for x, y in learnable.batches(args.batch)]


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def train(first, count):
    for i in range(first, first + count):
        loss = step(*batches[i % len(batches)])
    return loss.numpy()


train(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = time.perf_counter()
    train(start, args.every)
    learnable.report(args.every * args.batch, tic)
