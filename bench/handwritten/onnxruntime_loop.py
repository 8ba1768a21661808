"""Inference in ONNX Runtime, of the file in the home folder."""

import argparse
from pathlib import Path

import learnable
import onnxruntime

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--model", choices=sorted(learnable.SERVED), default="lenet")
args = parser.parse_args()

settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = args.threads
path = str(Path("~/model.onnx").expanduser())
session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
batches = [inputs for inputs, _ in learnable.batches(args.batch, **learnable.SERVED[args.model])]


def infer(first, count):
    for i in range(first, first + count):
        session.run(None, {"inputs": batches[i % len(batches)]})


infer(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    infer(start, args.every)
    learnable.report(args.every * args.batch, tic)
