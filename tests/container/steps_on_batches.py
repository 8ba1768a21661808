"""Run in a framework's environment: weights after steps on different batches, by the model's own optimizer."""

import importlib
import json
import sys
from pathlib import Path

from benchmarks import contract, definitions
from benchmarks.errors import Unsupported
from benchmarks.workload import ModelWorkload, model_module

name, model, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
builder = importlib.import_module("benchmarks.frameworks." + name)
document = {"cell": "one/session", "repeat": 0, "framework": name, "builder": name, "model": model, "mode": "train"}
file = str(Path(__file__).with_name(model + ".py"))
request = contract.request(dict(document, batch_size=4, threads=1))
workload = ModelWorkload(request, model_module(model, file), builder.OPTIONS)
workload.batch_count = steps
try:
    session = definitions.start(builder, workload)
except Unsupported as failure:
    sys.stdout.write(json.dumps(str(failure)) + "\n")
    sys.exit()
for number in range(steps):
    session.synchronise(session.step(session.batches[number]))
sys.stdout.write(json.dumps({name: value.tolist() for name, value in session.weights().items()}) + "\n")
