"""The training data of the loops, in which samples scatter around a mean of their class so that a model learns.

The numbers are those of the synthetic data of a run, drawn by separate code. The speed of a step depends on its values
too, for example if gradients become denormal.
"""

import sys
import time

import numpy as np

SEED = [1, 1]
"""Seeds of the benchmark's plan and of its stream of data."""
MODELS = {
    "lenet": {"shape": (1, 28, 28), "classes": 10},
    "resnet20": {"shape": (3, 32, 32), "classes": 10},
    "vgg19": {"shape": (3, 32, 32), "classes": 10},
    "lstm": {"shape": (40, 60), "classes": 60, "binary": True},
    "encoder": {"shape": (128,), "classes": 3, "tokens": 30522},
}
"""The data of each model that is trained: its shape, channels first, its classes, and true if its values are 0 or 1, or
the number of its tokens."""
SERVED = {"lenet": MODELS["lenet"], "resnet50_v1_5": {"shape": (3, 224, 224), "classes": 1000}}
"""The data of each model that a serving engine infers."""


def batches(batch_size, count=16, shape=(1, 28, 28), classes=10, binary=False, *, tokens=None):
    """Yield inputs (float32, or int32 of tokens) and labels (int32), drawn one by one."""
    if tokens is not None:
        yield from token_batches(batch_size, count, shape, classes, tokens)
        return
    rng = np.random.RandomState(SEED)
    means = [rng.uniform(-0.5, 0.5, shape).astype("float32") for _ in range(classes)]
    for _ in range(count):
        labels = rng.randint(0, classes, batch_size).astype("int32")
        inputs = np.empty((batch_size, *shape), "float32")
        for i, label in enumerate(labels):
            inputs[i] = means[label] + rng.uniform(-1, 1, shape)
        yield (inputs > 0).astype("float32") if binary else inputs, labels


def token_batches(batch_size, count, shape, classes, tokens):
    """Yield tokens and labels. Half of the tokens of a sample are those of its class."""
    own = np.random.RandomState([SEED[0], 6, 0]).randint(0, tokens, (classes, *shape)).astype("int32")
    rng = np.random.RandomState([*SEED, 6])
    for _ in range(count):
        labels = rng.randint(0, classes, batch_size).astype("int32")
        others = rng.randint(0, tokens, (batch_size, *shape)).astype("int32")
        yield np.where(rng.random_sample(others.shape) < 0.5, own[labels], others), labels


def now():
    """Return this moment by `time.perf_counter`, and the CPU time of this process so far."""
    return time.perf_counter(), time.process_time()


def report(samples, tic):
    """Print a block that began at `tic` and ends now: its samples/s, both moments, and the CPU time between them."""
    (begin, cpu_begin), (end, cpu_end) = tic, now()
    print(samples / (end - begin), begin, end, cpu_end - cpu_begin)
    sys.stdout.flush()
