"""The prompts and the lengths of the loops that generate, and the arguments that they all take.

The numbers are those of the synthetic tokens of a run, drawn by separate code: one token follows another half of the
time, and else comes by chance.
"""

import argparse

import numpy as np

SEED = 1
STREAM, OF_TOKENS = 1, 7
"""Streams of the data of a run, and of tokens among them."""
SEQUENCE, VOCABULARY, WIDTH, DEPTH, HEADS, SHARED_HEADS, INNER = 64, 4096, 128, 2, 4, 2, 512
"""The decoder of the size `tiny`."""
EPSILON, BASE = 1e-5, 10000.0


def arguments():
    """Return the arguments of a loop that generates."""
    parser = argparse.ArgumentParser()
    for name in ("threads", "batch", "warmup", "steps", "every"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--model", choices=("decoder",), default="decoder")
    parser.add_argument("--prompt", type=int, default=32)
    parser.add_argument("--output", type=int, default=32)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    return parser.parse_args()


def prompts(batch_size, length, count=16):
    """Yield prompts (int32) of a batch each."""
    following = np.random.RandomState([SEED, OF_TOKENS, 0]).permutation(VOCABULARY).astype(np.int32)
    random = np.random.RandomState([SEED, STREAM, OF_TOKENS])
    for _ in range(count):
        drawn = random.randint(0, VOCABULARY, (batch_size, SEQUENCE + 1)).astype(np.int32)
        follows = random.random_sample((batch_size, SEQUENCE + 1)) < 0.5
        for step in range(1, SEQUENCE + 1):
            drawn[:, step] = np.where(follows[:, step], following[drawn[:, step - 1]], drawn[:, step])
        yield np.ascontiguousarray(drawn[:, :length])


def angles(length):
    """Return the cosines and sines of every position and pair (positions, half of a head) in float32."""
    size = WIDTH // HEADS
    rates = BASE ** (-np.arange(0, size, 2) / size)
    turned = np.arange(length)[:, None] * rates
    return np.cos(turned).astype(np.float32), np.sin(turned).astype(np.float32)


def run(generate, batches, args):
    """Generate after each prompt in turn, and report the tokens of every so many generations."""
    import learnable  # which lies beside this file in a container, and elsewhere in a package

    for number in range(args.warmup):
        generate(batches[number % len(batches)])
    for start in range(0, args.steps, args.every):
        tic = learnable.now()
        for number in range(start, start + args.every):
            generate(batches[number % len(batches)])
        learnable.report(args.every * args.batch * args.output, tic)
