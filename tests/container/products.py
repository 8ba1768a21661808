"""Run in a framework's environment: the error of a product as a session in some precision multiplies."""

import importlib
import json
import sys

from benchmarks import contract, precision
from benchmarks.models.dense import mlp
from benchmarks.workload import ModelWorkload

name, value = sys.argv[1:]
builder = importlib.import_module("benchmarks.frameworks." + name)
document = {"cell": "one/session", "repeat": 0, "framework": name, "builder": name, "model": "mlp", "mode": "train"}
request = contract.request(dict(document, batch_size=8, threads=1, options={"precision": value}))
session = builder.start(ModelWorkload(request, mlp, builder.OPTIONS))
sys.stdout.write(json.dumps(precision.error_of(session.product(*precision.operands()))) + "\n")
