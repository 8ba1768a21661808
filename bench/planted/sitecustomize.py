"""A planted slowdown of a known size inside a container, for tests and benchmarks of the regression test.

After each synchronised block it waits for `PLANTED_WAIT` of the time that the block took. With `PLANTED_STEP_S` it
replaces the clock: a step takes so long by definition, with a scatter that each container draws by its cell and repeat,
so that a test has the same result on a busy host. Nothing of the harness is changed.
"""

import builtins
import json
import os
import random
import time

WAIT = float(os.environ.get("PLANTED_WAIT", "0"))
STEP_S = float(os.environ.get("PLANTED_STEP_S", "0"))
SCATTER = 0.003


class Clock:
    """A clock that only advances when it is told to."""

    def __init__(self):
        self.now_s = 1.0

    def __call__(self):
        return self.now_s

    def advance(self, seconds):
        """Let a number of seconds pass."""
        self.now_s += seconds


class Planted:
    """A session that only differs by its waiting."""

    def __init__(self, session):
        self._session = session
        self._begin = None

    def __getattr__(self, name):
        return getattr(self._session, name)

    def step(self, batch):
        """Run one step, and note when the block began."""
        if self._begin is None:
            self._begin = time.perf_counter()
        if CLOCK:
            CLOCK.advance(STEP_S * FACTOR)
        return self._session.step(batch)

    def synchronise(self, handle):
        """End a block by its synchronisation, and then wait."""
        self._session.synchronise(handle)
        if self._begin is not None:
            (CLOCK.advance if CLOCK else time.sleep)(WAIT * (time.perf_counter() - self._begin))
        self._begin = None


def _planting(import_module):
    def import_(name, *arguments, **named):
        module = import_module(name, *arguments, **named)
        fetched = named.get("fromlist") or (arguments[2] if len(arguments) > 2 else ())
        if name.startswith("benchmarks.frameworks.") and "start" in (fetched or ()):
            start = module.start
            if not getattr(start, "plants", False):
                module.start = _started(start)
        return module

    return import_


def _started(start):
    def planted(workload):
        return Planted(start(workload))

    planted.plants = True
    return planted


def _factor():
    """Return the factor by which this container is slower than others."""
    try:
        with open("/io/request.json") as file:  # noqa: PTH123 -- Python 3.6 and no more
            request = json.load(file)
    except (OSError, ValueError):
        return 1.0
    drawn = random.Random("{} {}".format(request.get("cell"), request.get("repeat")))
    return 1 + drawn.gauss(0, SCATTER)


CLOCK = Clock() if STEP_S else None
FACTOR = _factor() if CLOCK else 1.0
if CLOCK:
    time.perf_counter = CLOCK
if WAIT or STEP_S:
    builtins.__import__ = _planting(builtins.__import__)
