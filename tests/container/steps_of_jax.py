"""Run in JAX's environment: what the steps after the first one compile, and what becomes of the weights they take."""

import json
import sys

import jax

from benchmarks import contract
from benchmarks.frameworks import jax as builder
from benchmarks.models.residual import resnet20
from benchmarks.workload import ModelWorkload

document = {"cell": "one/session", "repeat": 0, "framework": "jax", "builder": "jax", "model": "resnet20"}
events, answer = [], {}
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: events.append(event))


def compilations():
    """The number of JAX's compilations until now."""
    return sum("backend_compile" in event for event in events)


for mode in ("train", "infer"):
    request = contract.request(dict(document, mode=mode, batch_size=4, threads=1))
    session = builder.start(ModelWorkload(request, resnet20, builder.OPTIONS))
    begin = compilations()
    session.synchronise(session.step(session.batches[0]))
    after_first, weights = compilations(), session._model.state[0]
    handles = [session.step(batch) for batch in session.batches[1:4]]
    session.synchronise(handles[-1])
    unfinished = sum(not handle.is_ready() for handle in handles)
    answer[mode] = {
        "compiled": [after_first - begin, compilations() - after_first],
        "unfinished": unfinished,
        "consumed": all(each.is_deleted() for each in weights),
    }
sys.stdout.write(json.dumps(answer) + "\n")
