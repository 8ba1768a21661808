"""A basic recurrent network of tf.keras: training by `fit`, in seconds of each epoch after the first."""

import time

import numpy as np
import tensorflow as tf

SAMPLES, STEPS, FEATURES, UNITS, BATCH, EPOCHS = 2560, 100, 8, 64, 32, 5


class Clock(tf.keras.callbacks.Callback):
    """Prints samples/s of each epoch but the first, which traces the graph."""

    def on_epoch_begin(self, *_):
        """Begin to count."""
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, *_):
        """Print the rate of the epoch."""
        if epoch:
            print("\n%.2f samples/s" % (SAMPLES / (time.perf_counter() - self.began)))


def main():
    """Train on random sequences."""
    tf.random.set_seed(1)
    random = np.random.RandomState(1)
    sequences = random.uniform(size=(SAMPLES, STEPS, FEATURES)).astype("float32")
    targets = random.uniform(size=(SAMPLES, 1)).astype("float32")
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.RNN(layers.SimpleRNNCell(UNITS), input_shape=(STEPS, FEATURES)), layers.Dense(1)]
    )
    model.compile("adam", "mse")
    model.fit(sequences, targets, batch_size=BATCH, epochs=EPOCHS, verbose=0, callbacks=[Clock()])


main()
