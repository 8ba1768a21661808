"""Greedy generation in TensorFlow by a decoder as Llama is one, with a `tf.function` for prompts and one for tokens.

Keys and values are variables of a fixed size.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import generating
import keras
import tensorflow as tf
from generating import DEPTH, EPSILON, HEADS, INNER, SHARED_HEADS, VOCABULARY, WIDTH

args = generating.arguments()
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)
SIZE = WIDTH // HEADS
CAPACITY = args.prompt + args.output - 1  # the last token has no step after it
COSINES, SINES = (tf.constant(each) for each in generating.angles(CAPACITY))


def dense(before, units):
    layer = keras.layers.Dense(units, use_bias=False)
    layer.build((None, None, before))
    return layer


def norm():
    layer = keras.layers.RMSNormalization(epsilon=EPSILON)
    layer.build((None, None, WIDTH))
    return layer


class Layer:
    """Attention and a gate, each behind a norm."""

    def __init__(self):
        self.before, self.between = norm(), norm()
        self.query, self.output = dense(WIDTH, WIDTH), dense(WIDTH, WIDTH)
        self.key, self.value = dense(WIDTH, SHARED_HEADS * SIZE), dense(WIDTH, SHARED_HEADS * SIZE)
        self.gate, self.up, self.down = dense(WIDTH, INNER), dense(WIDTH, INNER), dense(INNER, WIDTH)
        shape = (args.batch, CAPACITY, SHARED_HEADS, SIZE)
        self.keys, self.values = tf.Variable(tf.zeros(shape)), tf.Variable(tf.zeros(shape))

    def __call__(self, x, begin, steps):
        y, end = self.before(x), begin + steps
        query = turned(tf.reshape(self.query(y), (args.batch, steps, HEADS, SIZE)), begin, end)
        key = turned(tf.reshape(self.key(y), (args.batch, steps, SHARED_HEADS, SIZE)), begin, end)
        value = tf.reshape(self.value(y), (args.batch, steps, SHARED_HEADS, SIZE))
        self.keys[:, begin:end].assign(key)
        self.values[:, begin:end].assign(value)
        if steps > 1:
            attended = keras.ops.dot_product_attention(query, key, value, is_causal=True)
        else:
            seen = (tf.range(CAPACITY) < end)[None, None, None]
            keys, values = tf.convert_to_tensor(self.keys), tf.convert_to_tensor(self.values)
            attended = keras.ops.dot_product_attention(query, keys, values, mask=seen)
        x = x + self.output(tf.reshape(attended, (args.batch, steps, WIDTH)))
        y = self.between(x)
        return x + self.down(tf.nn.silu(self.gate(y)) * self.up(y))


def turned(values, begin, end):
    first, second = tf.split(values, 2, axis=-1)
    cosines, sines = COSINES[begin:end, None], SINES[begin:end, None]
    return tf.concat([first * cosines - second * sines, second * cosines + first * sines], axis=-1)


embedding = keras.layers.Embedding(VOCABULARY, WIDTH)
embedding.build((None, None))
layers, last, head = [Layer() for _ in range(DEPTH)], norm(), dense(WIDTH, VOCABULARY)
batches = [tf.constant(each, tf.int64) for each in generating.prompts(args.batch, args.prompt)]
positions = [tf.constant(position, tf.int32) for position in range(CAPACITY)]


def chosen(tokens, begin, steps):
    x = embedding(tokens)
    for layer in layers:
        x = layer(x, begin, steps)
    return tf.argmax(head(last(x[:, -1])), axis=-1)


@tf.function
def prefill(prompt):
    return chosen(prompt, 0, args.prompt)


@tf.function
def decode(tokens, position):
    return chosen(tokens[:, None], position, 1)


def generate(prompt):
    tokens = prefill(prompt)
    streamed = [tokens.numpy()]
    for position in range(args.prompt, args.prompt + args.output - 1):
        tokens = decode(tokens, positions[position])
        streamed.append(tokens.numpy())
    return streamed


generating.run(generate, batches, args)
