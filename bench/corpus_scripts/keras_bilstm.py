"""A bidirectional LSTM over embedded words of tf.keras: inference by `predict`, one sequence at a time."""

import time

import numpy as np
import tensorflow as tf

WORDS, LENGTH, WIDTH, UNITS, CLASSES = 10000, 100, 64, 64, 10
WARM_UP, STEPS, BLOCKS = 20, 40, 8


def main():
    """Print sequences/s of each block of calls."""
    tf.random.set_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Embedding(WORDS, WIDTH, input_shape=(LENGTH,)),
            layers.Bidirectional(layers.LSTM(UNITS)),
            layers.Dense(CLASSES, activation="softmax"),
        ]
    )
    words = np.random.RandomState(1).randint(0, WORDS, size=(1, LENGTH))
    for _ in range(WARM_UP):
        model.predict(words, verbose=0)
    for _ in range(BLOCKS):
        began = time.perf_counter()
        for _ in range(STEPS):
            model.predict(words, verbose=0)
        print("%.4f sequences/s" % (STEPS / (time.perf_counter() - began)))


main()
