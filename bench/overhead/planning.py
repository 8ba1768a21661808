"""A plan of 100 000 cells against one of 10 000, whose time must grow no faster than the cells and memory stay small.

    python -m bench.overhead.planning [--pairs 20]

Each side is a separate process that runs the command `orchestrator plan --json`: read the file, plan, print.
The time is taken inside the process, without the start of the interpreter, which would flatter the ratio.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import pairs

SMALL, LARGE = 10_000, 100_000
MAX_RSS_BYTES = 400_000_000
CELLS_PER_BATCH_SIZE = 40


def matrix_text(cells: int) -> str:
    """Return a matrix of five releases × two options × two modes × two systems × as many batch sizes as needed."""
    sizes = list(range(1, cells // CELLS_PER_BATCH_SIZE + 1))
    return f"""\
version: 1
systems: {{cpu: {{cpus: 2}}, 1_gpu: {{gpus: 1}}}}
frameworks: [mxnet==1.5.1, mxnet==1.6.0, mxnet==1.7.0, mxnet==1.8.0, mxnet==1.9.1]
models: [{{name: lenet, batch_size: {sizes}}}]
modes: [train, infer]
options: {{mxnet: {{hybridize: [true, false]}}}}
exclude: [{{framework: mxnet==1.6.0, system: 1_gpu, batch_size: 7}}]
include: [{{framework: mxnet<1.7, batch_size: 9, timeout: 20m}}]
"""


def side(path: Path) -> None:
    """Plan one file by the command's own function, and print its time and memory on stderr."""
    from orchestrator.cli.measure.plan import plan

    start = time.perf_counter()
    plan(file=path, limit=LARGE, json=True)
    sys.stdout.flush()
    wall_s = time.perf_counter() - start
    json.dump({"wall_s": wall_s, "max_rss_bytes": peak_rss_bytes()}, sys.stderr)


def peak_rss_bytes() -> int:
    """Return the peak memory of this program alone, as `ru_maxrss` includes the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


def measure(path: Path, cells: int, largest: list[int]) -> float:
    """Return the seconds of one side in a fresh process, and append its memory to `largest`."""
    printed = path.with_suffix(".json")
    with printed.open("w") as output:
        command = [sys.executable, "-m", "bench.overhead.planning", "--side", str(path)]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    document = json.loads(printed.read_bytes())
    planned = len(document["cells"]) + len(document["skips"])
    if planned != cells:
        raise SystemExit(f"{planned} cells and skips were planned, not {cells}")
    figures = json.loads(done.stderr)
    largest.append(figures["max_rss_bytes"])
    return float(figures["wall_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--side", type=Path, help="plan this file once (for the benchmark itself)")
    arguments = parser.parse_args()
    if arguments.side:
        side(arguments.side)
        return
    large_rss: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.yaml"), Path(folder, "large.yaml")
        small.write_text(matrix_text(SMALL), encoding="utf-8")
        large.write_text(matrix_text(LARGE), encoding="utf-8")
        values = pairs.interleave(
            lambda: measure(large, LARGE, large_rss), lambda: measure(small, SMALL, []), arguments.pairs
        )
    peak = max(large_rss)
    print(f"  peak RSS of {LARGE} cells: {peak / 1e6:.0f} MB (bar {MAX_RSS_BYTES / 1e6:.0f} MB)", file=sys.stderr)
    ratio = pairs.compare(
        "plan of 100 000 cells",
        f"{LARGE} cells, peak RSS {peak / 1e6:.0f} MB",
        f"{SMALL} cells",
        values,
        bar=(0.0, 11.0),
        unit="s",
    )
    pairs.emit([ratio])


if __name__ == "__main__":
    main()
