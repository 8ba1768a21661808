"""Inference in OpenVINO, of the file in the home folder."""

import argparse
from pathlib import Path

import learnable
import openvino

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--model", choices=sorted(learnable.SERVED), default="lenet")
args = parser.parse_args()

settings = {"INFERENCE_NUM_THREADS": args.threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
model = openvino.Core().compile_model(str(Path("~/model.onnx").expanduser()), "CPU", settings)
batches = [inputs for inputs, _ in learnable.batches(args.batch, **learnable.SERVED[args.model])]


def infer(first, count):
    for i in range(first, first + count):
        model(batches[i % len(batches)])


infer(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    infer(start, args.every)
    learnable.report(args.every * args.batch, tic)
