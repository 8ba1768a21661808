"""Run in TensorFlow's environment: the shapes of what a model of `keras.applications` trains."""

import json
import sys

import tensorflow as tf

model = getattr(tf.keras.applications, sys.argv[1])(weights=None)
sys.stdout.write(json.dumps([list(weight.shape) for weight in model.trainable_weights]) + "\n")
