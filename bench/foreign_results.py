"""Results of other benchmark tools, made by these tools, as data of tests: `python -m bench.foreign_results`.

Each tool measures a wait three times: before, again (the same) and slower (5 % longer). PyPI has pyperf and
pytest-benchmark; Debian has hyperfine, libbenchmark-dev and g++. What tells of the machine is taken out.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from orchestrator.resources import ROOT

FOLDER = ROOT / "tests" / "unit" / "foreign" / "files"
WAIT_MS = {"before": 50.0, "again": 50.0, "slower": 52.5}
_PYPERF = "import sys, time, pyperf\nrunner = pyperf.Runner()\nrunner.bench_func('wait', time.sleep, {seconds})\n"
_PYTEST = """import time
def test_wait(benchmark):
    benchmark.pedantic(time.sleep, ({seconds},), rounds=25, iterations=1)
"""
_GOOGLE = """#include <benchmark/benchmark.h>
#include <chrono>
#include <thread>
static void Wait(benchmark::State& state) {{
  for (auto _ : state) std::this_thread::sleep_for(std::chrono::microseconds({microseconds}));
}}
BENCHMARK(Wait)->UseRealTime()->Iterations(3);
BENCHMARK_MAIN();
"""
_OF_THE_MACHINE = {"hostname", "python_executable", "host_name", "node", "executable"}


def main() -> None:
    """Make all files anew."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--python", default=sys.executable, help="An interpreter with pyperf and pytest-benchmark.")
    python = options.parse_args().python
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for tool, version, measure in _tools(python, Path(scratch)):
            for old in FOLDER.glob(f"{tool}-*.json"):
                old.unlink()
            for name, wait_ms in WAIT_MS.items():
                out = Path(scratch) / f"{tool}-{name}.json"
                measure(wait_ms, out)
                document = json.dumps(_cleaned(json.loads(out.read_text())), indent=1)
                (FOLDER / f"{tool}-{version}-{name}.json").write_text(document + "\n")


def _tools(python: str, scratch: Path) -> Iterator[tuple[str, str, Callable[[float, Path], None]]]:
    def pyperf(wait_ms: float, out: Path) -> None:
        script = _script(scratch / "bench.py", _PYPERF.format(seconds=wait_ms / 1000))
        _run(python, script, "-p", "12", "-n", "3", "-w", "1", "-l", "1", "--quiet", "-o", out)

    def pytest_benchmark(wait_ms: float, out: Path) -> None:
        script = _script(scratch / "test_bench.py", _PYTEST.format(seconds=wait_ms / 1000))
        _run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", script, f"--benchmark-json={out}")

    def hyperfine(wait_ms: float, out: Path) -> None:
        _run("hyperfine", "-N", "-w", "1", "-r", "20", "-n", "wait", f"sleep {wait_ms / 1000}", "--export-json", out)

    def google_benchmark(wait_ms: float, out: Path) -> None:
        source = _script(scratch / "bench.cc", _GOOGLE.format(microseconds=round(wait_ms * 1000)))
        program = scratch / "bench"
        _run("g++", "-O2", source, "-lbenchmark", "-lpthread", "-o", program)
        _run(program, "--benchmark_repetitions=20", f"--benchmark_out={out}", "--benchmark_out_format=json")

    for name, measure in (("pyperf", pyperf), ("pytest-benchmark", pytest_benchmark)):
        code = f"import importlib.metadata as m; print(m.version({name!r}))"
        yield name, _run(python, "-c", code).strip(), measure
    yield "hyperfine", _run("hyperfine", "--version").split()[1], hyperfine
    version = _run("dpkg-query", "-W", "-f", "${Version}", "libbenchmark-dev").partition("-")[0]
    yield "google-benchmark", version, google_benchmark


def _script(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _run(*command: object) -> str:
    program = shutil.which(str(command[0]))
    if program is None:
        raise SystemExit(f"{command[0]}: is not installed")
    listed = [program, *map(str, command[1:])]
    return subprocess.run(listed, check=True, capture_output=True, text=True).stdout


def _cleaned(value: Any) -> Any:
    """Return a document without what names the machine, such as paths; the flags of its CPU are left out too."""
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: each for key, each in value.items() if key != "flags"}
    return {key: "bench-1" if key in _OF_THE_MACHINE else _cleaned(each) for key, each in kept.items()}


if __name__ == "__main__":
    main()
