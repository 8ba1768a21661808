"""Run in a framework's environment: the parity check of a model file that lies beside this one, or of the package."""

import importlib
import json
import sys
from pathlib import Path

from benchmarks import contract, parity, workload


def model_module(name):  # type: ignore[no-untyped-def]  # Python 3.6 reads this too
    """The package's model of that name, or a module of this folder."""
    return workload.model_module(name) if workload.exists("models", name) else importlib.import_module(name)


parity.model_module = model_module
builder, model, batch_size, options, path = sys.argv[1:]
document = {"cell": "parity/" + model, "repeat": 0, "framework": builder, "builder": builder, "model": model}
document.update(mode="parity", batch_size=int(batch_size), options=json.loads(options), threads=2)
result = parity.check(contract.request(document), lambda _phase: None)
Path(path).write_text(contract.result_text(result), encoding="utf-8")
