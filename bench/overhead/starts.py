"""The CPU time that the command line takes to start, against that of Python itself.

    python -m bench.overhead.starts [--pairs 20] [--only NAME …]

Each side is a process of the same environment: the program, asked as a shell or a person asks it, and `python -c pass`.
Its time is that of user and system together, which hardly depends on what else runs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.pairs import Ratio, compare, emit, interleave

PYTHON = [sys.executable, "-c", "pass"]
PROGRAM = [sys.executable, "-c", "import sys; sys.argv[0] = 'orchestrator'; from orchestrator.cli import main; main()"]
RUN = "20260102T030405Z-abcd"
CELLS = [f"torch-2.13.0-cpu/lenet-train-b{size}" for size in range(1, 101)]
COMPLETE, HELP = 12.0, 20.0
COMPLETED = {
    "completion of a command's name": "orchestrator do",
    "completion of an option": "orchestrator run --re",
    "completion of a run": "orchestrator show 2026",
    "completion of a cell of a run": "orchestrator show latest torch",
    "completion of a format": "orchestrator report --format j",
    "completion of a runtime": "orchestrator run --runtime v",
}
SHOWN = {"--version": COMPLETE, "--help": HELP, "run --help": HELP}


def cpu_s(command: list[str], folder: Path, asked: Mapping[str, str] = {}) -> float:
    """Return the CPU time of a process, which has to print something unless it is Python alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if bool(ended.stdout.strip()) == (command == PYTHON):
        raise SystemExit(f"{command}: printed {ended.stdout!r}{ended.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def completion(line: str) -> dict[str, str]:
    """Return the variables by which bash asks for the ends of a line."""
    last = str(len(line.split(" ")) - 1)
    return {"_ORCHESTRATOR_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": last}


def measure(name: str, pairs: int, folder: Path) -> Ratio:
    """Compare one start with that of Python, after one of each that does not count."""
    line = COMPLETED.get(name)
    command = PROGRAM if line else [*PROGRAM, *name.split()]
    asked = completion(line) if line else {}
    cpu_s(command, folder, asked)
    cpu_s(PYTHON, folder)
    values = interleave(lambda: cpu_s(command, folder, asked), lambda: cpu_s(PYTHON, folder), pairs)
    shown = f"`{line}`, Tab" if line else f"`orchestrator {name}`"
    bar = (0.0, SHOWN.get(name, COMPLETE))
    return compare(f"CPU time of {name}", shown, "`python -c pass`", values, bar=bar, unit="s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", nargs="+", default=[], choices=[*SHOWN, *COMPLETED], metavar="NAME")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-starts-") as scratch:
        folder = Path(scratch)
        record = folder / "results" / RUN / "run.json"
        record.parent.mkdir(parents=True)
        record.write_text(json.dumps({"plan": {"cells": [{"id": cell} for cell in CELLS]}}))
        emit([measure(name, arguments.pairs, folder) for name in arguments.only or (*SHOWN, *COMPLETED)])


if __name__ == "__main__":
    main()
