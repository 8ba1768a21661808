"""LeNet, or an encoder, in Keras with a compiled TensorFlow training step."""

import argparse
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import learnable
import tensorflow as tf

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--model", choices=("encoder", "lenet"), default="lenet")
args = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)

layers = tf.keras.layers


def lenet():
    return tf.keras.Sequential(
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


class Positions(layers.Layer):
    """A learned vector of each position."""

    def build(self, shape):
        self.vectors = self.add_weight(shape=tuple(shape[1:]), initializer="glorot_uniform", name="vectors")

    def call(self, x):
        return x + self.vectors


def encoder(sequence=128, vocabulary=30522, width=128, depth=2, heads=2):
    """Return BERT's encoder of the size `tiny`, which classifies sequences by their first step."""

    def gelu(x):
        return tf.keras.activations.gelu(x, approximate=False)

    tokens = layers.Input((sequence,), dtype="int64")
    x = layers.LayerNormalization(epsilon=1e-5)(Positions()(layers.Embedding(vocabulary, width)(tokens)))
    for _ in range(depth):
        attended = layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = layers.LayerNormalization(epsilon=1e-5)(layers.Add()([x, attended]))
        wide = layers.Dense(4 * width, activation=gelu)(x)
        x = layers.LayerNormalization(epsilon=1e-5)(layers.Add()([x, layers.Dense(width)(wide)]))
    pooled = layers.Dense(width, activation="tanh")(x[:, 0])
    return tf.keras.Model(tokens, layers.Dense(3)(pooled))


model = {"encoder": encoder, "lenet": lenet}[args.model]()
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.0001 if args.model == "encoder" else 0.001)
batches = [
    (tf.constant(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else tf.constant(x, tf.int64), tf.constant(y))
    for x, y in learnable.batches(args.batch, **learnable.MODELS[args.model])
]


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    # That of an embedding has an entry for each occurrence of a word, and Adam would square the entries, not their sum.
    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def train(first, count):
    for i in range(first, first + count):
        loss = step(*batches[i % len(batches)])
    return loss.numpy()


train(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    train(start, args.every)
    learnable.report(args.every * args.batch, tic)
