"""Run in TensorFlow's environment: what XLA compiles where one session of two asks for it."""

import json
import os
import sys

from benchmarks import contract
from benchmarks.frameworks import tensorflow as builder
from benchmarks.models.convolutional import lenet
from benchmarks.workload import ModelWorkload

document = {"cell": "two/sessions", "repeat": 0, "framework": "tensorflow", "builder": "tensorflow", "model": "lenet"}
sessions = []
for xla in (True, False):
    request = contract.request(dict(document, mode="train", batch_size=8, threads=1, options={"xla": xla}))
    session = builder.start(ModelWorkload(request, lenet, builder.OPTIONS))
    session.synchronise(session.step(session.batches[0]))
    sessions.append(session)
other = builder.tf.function(lambda x: x + 1).get_concrete_function(builder.tf.constant(1.0))
answer = {
    "sessions": [session.facts()["xla"] for session in sessions],
    "other": bool(other.function_def.attr["_XlaMustCompile"].b),
    "variables": [name for name in os.environ if "XLA" in name],
}
sys.stdout.write(json.dumps(answer) + "\n")
