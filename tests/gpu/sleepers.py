"""Scripts that sleep on GPUs in place of computing, and fail if another process is on one of theirs."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path

SCRIPT = """\
import fcntl, os, sys, time
held = []
for uuid in os.environ["CUDA_VISIBLE_DEVICES"].split(","):
    held.append(open(sys.argv[2] + "/" + uuid, "w"))
    fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
time.sleep(float(sys.argv[1]))
print("slept 1")
"""
WIDTHS = (1, 2, 4)


def write_matrix(folder: Path, sleepers: Sequence[tuple[float, Collection[int]]], repeats: int) -> None:
    """Write a matrix of scripts, each with its seconds and the numbers of GPUs on which it is a cell."""
    (folder / "sleep.py").write_text(SCRIPT)
    metrics = {"slept": {"pattern": "slept (.*)", "unit": "times", "better": "higher"}}
    scripts = [
        {"name": f"s{n}", "file": "sleep.py", "arguments": [str(s), str(folder)], "metrics": metrics}
        for n, (s, _) in enumerate(sleepers)
    ]
    exclude = [
        {"model": f"s{n}", "system": f"{gpus}_gpu"}
        for n, (_, widths) in enumerate(sleepers)
        for gpus in WIDTHS
        if gpus not in widths
    ]
    systems = {f"{gpus}_gpu": {"gpus": gpus} for gpus in WIDTHS}
    document = {"version": 1, "frameworks": ["noop==1"], "systems": systems, "scripts": scripts, "repeats": repeats}
    (folder / "matrix.yaml").write_text(json.dumps(document | ({"exclude": exclude} if exclude else {})))
