"""Short blocks with and without readings around them, in turn in one process.

The call is `alternating.py REQUEST PAIRS SEED`. It runs in a container of the measured image, on the code of
`benchmarks/` in it. The session starts as a run starts it, and a block is the one that a run times. The output is the
seconds of each pair of blocks as JSON, with readings first. The readings are inside those seconds, although a run
leaves them out of the time.
"""

import json
import random
import sys
import time
from pathlib import Path

from benchmarks import contract, definitions, process
from benchmarks.sampling import conditions
from benchmarks.timing import measure
from benchmarks.workload import ModelWorkload, model_module

STEPS = 3
"""Steps of a block, which are few so that its scatter is small beside the cost of a reading."""
SETTLING = 200
"""Steps before anything is compared."""


def taken(timer):
    """Return the seconds of one block, with the readings before and after it."""
    begin = time.perf_counter()
    timer.block(STEPS)
    return time.perf_counter() - begin


def main(path, pairs, seed):
    """Start a session, and run the pairs, each in a new random order."""
    request = contract.request(json.loads(Path(path).read_text()))
    process.prepare(request)
    sampler = conditions.Sampler()
    model = model_module(request.model, request.model_file)
    builder, _ = process.import_builder(request.builder, lambda _phase: None)
    maker = definitions.maker(request, builder)
    session = maker.start(ModelWorkload(request, model, maker.OPTIONS))
    read, unread = (
        measure.Timer(session, request.batch_size, measure.SYSTEM_CLOCK, each)
        for each in (sampler, conditions.Unsampled())
    )
    unread.block(SETTLING)
    sides = [(0, read), (1, unread)]
    order = random.Random(seed)
    seconds = []
    for _ in range(pairs):
        order.shuffle(sides)
        both = [0.0, 0.0]
        for side, timer in sides:
            both[side] = taken(timer)
        seconds.append(both)
    print(json.dumps({"samples": STEPS * request.batch_size, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
