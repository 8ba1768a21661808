"""Run in a framework's environment: the losses of `one_layer` before and after one step of an optimizer."""

import importlib
import json
import sys

import one_layer

from benchmarks import contract
from benchmarks.workload import ModelWorkload

name = sys.argv[1]
one_layer.OPTIMIZER = json.loads(sys.argv[2])
document = {"cell": "one/step", "repeat": 0, "framework": name, "builder": name, "model": "one_layer"}
request = contract.request(dict(document, mode="train", batch_size=one_layer.BATCH_SIZE, threads=1))
builder = importlib.import_module("benchmarks.frameworks." + name)
session = builder.start(ModelWorkload(request, one_layer, builder.OPTIONS))
losses = []
for _ in range(2):
    handle = session.step(session.batches[0])
    session.synchronise(handle)
    losses.append(session.loss(handle))
sys.stdout.write(json.dumps(losses) + "\n")
