"""Index and report of 100 000 results against 10 000, with at most linear time and bounded memory and pages.

    python -m bench.overhead.reports [--pairs 3]

The results are made up: files as a run leaves them, one repeat in fifty failed, groups of ten cells with five repeats.
Each side is a separate process that lists the run through a new index, reads all of it and writes the pages.
The time is taken inside the process, without the start of the interpreter, which would flatter the ratio.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import pairs
from bench.overhead.planning import peak_rss_bytes
from orchestrator.domain import (
    Cell,
    Duration,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Outcome,
    Plan,
    Status,
    System,
    Workload,
)
from orchestrator.results.records import RunRecord, plan_to_json
from orchestrator.results.store import Run

SMALL, LARGE = 10_000, 100_000
MAX_RSS_BYTES = 600_000_000
MAX_PAGE_BYTES = 10_000_000
REPEATS = 5
VERSIONS = ("1.5.1", "1.6.0", "1.7.0", "1.8.0", "1.9.1")
SYSTEM = System("cpu", cpus=2)


def cells(results: int) -> Iterator[Cell]:
    """Yield as many cells as needed, batch size by batch size."""
    for number in range(results // REPEATS):
        batch, place = divmod(number, 2 * len(VERSIONS))
        framework = Framework("mxnet", VERSIONS[place % len(VERSIONS)], python="3.11")
        flag = place < len(VERSIONS)
        work = Workload("lenet", Mode("train"), batch + 1)
        identity = f"mxnet-{framework.version}-cpu/{work.label}{'' if flag else '-hybridize=false'}"
        image = f"bench/mxnet:{framework.version}-cpu"
        yield Cell(
            identity, framework, SYSTEM, work, image,
            options=(("hybridize", flag),), duration=Duration(), repeats=REPEATS,
        )  # fmt: skip


def make(folder: Path, results: int, name: str = "20260102T030405Z-abcd") -> None:
    """Write a run of a number of results, without waiting for the disk."""
    planned = tuple(cells(results))
    images = tuple(
        ImageSpec("bench/mxnet", f"{version}-cpu", "cpu", Framework("mxnet", version, python="3.11"),
                  Environment("mxnet", "3.11", expected_versions=(("mxnet", version),)))
        for version in VERSIONS
    )  # fmt: skip
    run = Run(folder / name)
    run.write_record(
        RunRecord(
            run=run.name, created_at="2026-01-02T03:04:05+00:00", orchestrator_version="0", runtime="docker",
            host={"hostname": "bench-1"}, plan=plan_to_json(Plan("large", 1, images, planned)), matrix={},
        )
    )  # fmt: skip
    draw = random.Random(1)
    for cell in planned:
        for repeat in range(cell.repeats):
            _write(run, cell, repeat, draw)


def _write(run: Run, cell: Cell, repeat: int, draw: random.Random) -> None:
    place = run.repeat_folder(cell.id, repeat)
    place.mkdir(parents=True)
    status = Status.FAILED if draw.random() < 0.02 else Status.OK
    outcome = Outcome(
        cell.id, repeat, status, "" if status is Status.OK else "exit status 139: segmentation fault",
        f"{cell.id}/{repeat}/log.txt", started_at="2026-01-02T03:04:05Z", wall_s=12.5, create_s=0.25, exit_code=0,
        image_id="sha256:" + "ab" * 32,
    )  # fmt: skip
    fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
    (place / "outcome.json").write_text(json.dumps(fields))
    (place / "log.txt").write_text("loading\nmeasured\n")
    if status is Status.OK:
        (place / "result.json").write_text(json.dumps(result(cell, repeat, draw)))


def result(cell: Cell, repeat: int, draw: random.Random) -> dict[str, object]:
    """Return an answer as of a container, with ten blocks, fifty step times and eighty distributions."""
    batch = cell.workload.batch_size
    step_s = (20.0 + batch) * (1 + VERSIONS.index(cell.framework.version) / 10) * draw.lognormvariate(0, 0.02) / 4000

    def block(steps: int) -> dict[str, object]:
        wall_s = steps * step_s * draw.lognormvariate(0, 0.02)
        return {"steps": steps, "samples": steps * batch, "wall_s": wall_s, "cpu_s": 1.9 * wall_s}

    return {
        "schema": 1, "measurement_version": 1, "cell": cell.id, "repeat": repeat, "started_at": "2026-01-02T03:04:05Z",
        "phases": {
            "import_s": 1 + draw.random(), "build_s": 0.2, "first_step_s": 0.1, "warmup_s": 1.0, "steady_s": 4.0,
            "latency_s": 1.0,
        },
        "first_step": block(1), "warmup": [block(9)], "blocks": [block(40) for _ in range(10)],
        "latency_s": [step_s * draw.lognormvariate(0.05, 0.1) for _ in range(50)],
        "loss": {"first": 2.302585, "last": 0.7 + 0.1 * draw.random()},
        "model": {"parameters": 61_706, "multiply_adds": 416_520},
        "memory": {"peak_rss_bytes": int(3e8 + 1e8 * draw.random()), "peak_device_bytes": None},
        "facts": {
            "versions": {"mxnet": cell.framework.version, **{f"distribution-{n}": f"1.{n}.0" for n in range(80)}},
            "python": "3.11.7", "cpu": {"model": "Example CPU", "cores": 2}, "threads": 2, "threads_asked": 2,
        },
    }  # fmt: skip


def side(folder: Path) -> None:
    """Index, read and render one results folder by the program's own functions, and print its figures."""
    from orchestrator.reporting.findings.compose import report
    from orchestrator.reporting.reports.run.page import write_html
    from orchestrator.results.listing import index
    from orchestrator.results.results_folder import runs

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        (summary,) = index.summaries(folder, Path(cache))
    indexed = time.perf_counter()
    (run,) = runs(folder)
    content = report(run)
    gathered = time.perf_counter()
    write_html(content, run.folder / "report", run.folder)
    end = time.perf_counter()
    pages = [page.stat().st_size for page in (run.folder / "report").iterdir()]
    figures = {
        "results": sum(count for _, count in summary.counts), "reported": sum(count for _, count in content.statuses),
        "wall_s": end - start, "index_s": indexed - start, "gather_s": gathered - indexed, "pages_s": end - gathered,
        "max_rss_bytes": peak_rss_bytes(),
        "pages": len(pages), "largest_page_bytes": max(pages), "pages_bytes": sum(pages),
    }  # fmt: skip
    print(json.dumps(figures))


def measure(folder: Path, results: int, seen: list[dict[str, float]]) -> float:
    """Return the seconds of one side in a fresh process, and append its other figures to `seen`."""
    command = [sys.executable, "-m", "bench.overhead.reports", "--side", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures = json.loads(done.stdout)
    if figures["results"] != results or figures["reported"] != results:
        raise SystemExit(f"{figures} of {results} results")
    print(f"  {results}: {figures}", file=sys.stderr)
    seen.append(figures)
    return float(figures["wall_s"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--small", type=int, default=SMALL)
    parser.add_argument("--large", type=int, default=LARGE)
    parser.add_argument("--side", type=Path, help="index and report this folder once (for the benchmark itself)")
    parser.add_argument("--make", type=Path, help="only write --large results there")
    arguments = parser.parse_args()
    if arguments.side:
        side(arguments.side)
        return
    if arguments.make:
        make(arguments.make, arguments.large)
        return
    seen: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="bench-reports-") as scratch:
        small, large = Path(scratch, "small"), Path(scratch, "large")
        make(small, arguments.small)
        make(large, arguments.large)
        values = pairs.interleave(
            lambda: measure(large, arguments.large, seen), lambda: measure(small, arguments.small, []), arguments.pairs
        )
    memory, page = (max(figures[name] for figures in seen) for name in ("max_rss_bytes", "largest_page_bytes"))
    for what, value, bar in (("peak RSS", memory, MAX_RSS_BYTES), ("largest page", page, MAX_PAGE_BYTES)):
        print(f"  {what}: {value / 1e6:.1f} MB (bar {bar / 1e6:.0f} MB)", file=sys.stderr)
        if value > bar:
            raise SystemExit(f"{what} is over its bar")
    ratio = pairs.compare(
        f"index and report of {arguments.large} results",
        f"{arguments.large} results, peak RSS {memory / 1e6:.0f} MB, largest page {page / 1e6:.1f} MB",
        f"{arguments.small} results", values, bar=(0.0, 1.1 * arguments.large / arguments.small), unit="s",
    )  # fmt: skip
    pairs.emit([ratio])


if __name__ == "__main__":
    main()
