"""Run in a framework's environment: losses of a model with dropout.

Steps are waited for one by one, with questions between them (`asked`) or none (`alone`), or all of them at the end
(`together`).
"""

import importlib
import json
import sys

from benchmarks import contract
from benchmarks.models.dense import mlp
from benchmarks.workload import ModelWorkload

name = sys.argv[1]
builder = importlib.import_module("benchmarks.frameworks." + name)
document = {"cell": "one/session", "repeat": 0, "framework": name, "builder": name, "model": "mlp", "mode": "train"}
workload = ModelWorkload(contract.request(dict(document, batch_size=32, threads=1, seed=3)), mlp, builder.OPTIONS)
inputs, _ = next(workload.batches())
session = builder.start(workload)
handles = []
for batch in session.batches[:4]:
    if sys.argv[2] == "asked":
        session.predict(inputs[:3])
        session.weights()
        session.native_layers()
        session.facts()
    handle = session.step(batch)
    if sys.argv[2] != "together":
        session.synchronise(handle)
    handles.append(handle)
session.synchronise(handles[-1])
losses = [session.loss(handle) for handle in handles]
sys.stdout.write(json.dumps(losses) + "\n")
