"""A fake host with GPUs, for tests alone: its CPUs and GPUs are those that `state.json` beside this file names.

It is imported by every process of an interpreter that has it on its path, the orchestrator's and those it launches.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STATE = Path(__file__).with_name("state.json")


def state() -> dict[str, Any]:
    """Read the host as it is now: tests change it while processes run."""
    return json.loads(STATE.read_text())


def give_cpus() -> None:
    """Have this process believe in the CPUs of the fake host: a real one of two cores could run two cells at once."""
    allowed = {0: set(range(state()["cpus"]))}
    os.sched_getaffinity = lambda pid: set(allowed[0])
    os.sched_setaffinity = lambda pid, cpus: allowed.update({0: set(cpus)})


def take_time() -> None:
    """Have a launch take as long as one on a GPU would: what computes nothing has ended before another begins."""
    if any("benchmarks" in argument for argument in sys.orig_argv):
        time.sleep(state().get("launch_s", 0.0))


if STATE.exists() and sys.platform == "linux":
    give_cpus()
    take_time()
