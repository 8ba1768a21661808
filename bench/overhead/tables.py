"""Parquet of 100 000 results against reading the files, all tables of each, with equal values.

    python -m bench.overhead.tables [--pairs 3]

The results are those of `bench.overhead.reports`, in 1 000 runs. Each side is a separate process that reads every table
into Arrow. The files are read in one pass over all tables, which is the cheapest way there is. The time is the CPU time
of the process, without the start of the interpreter and the imports. Before it is taken, every table of the one is
compared with that of the other, value by value.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench import pairs
from bench.overhead import reports
from orchestrator.tables.arrow import arrow_schema, record_batch
from orchestrator.tables.reading import NAMES, TABLES, read_batches
from orchestrator.tables.stored import stored_runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.tables import TablesOptions, export_tables

RESULTS, RUNS = 100_000, 1_000
BAR = (0.0, 0.1)


def from_files(results: Path) -> dict[str, pa.Table]:
    """Read every table from the files of the runs, each file once."""
    schemas = {table.name: arrow_schema(table) for table in TABLES}
    batches: defaultdict[str, list[Any]] = defaultdict(list)
    for name, rows in read_batches(stored_runs(results), NAMES):
        batches[name].append(record_batch(schemas[name], rows))
    return {name: pa.Table.from_batches(batches[name], schema) for name, schema in schemas.items()}


def from_parquet(tables: Path) -> dict[str, pa.Table]:
    """Read every table from Parquet."""
    return {table.name: pq.read_table(tables / table.name) for table in TABLES}


def check(results: Path, tables: Path) -> None:
    """Compare both ways, value by value. Raises `SystemExit` where they differ."""
    files, parquet = from_files(results), from_parquet(tables)
    for table in TABLES:
        one, other = files[table.name], parquet[table.name]
        if not one.equals(other):
            raise SystemExit(f"{table.name}: {one.num_rows} rows of the files are not the {other.num_rows} of Parquet")
    print(f"  equal: {', '.join(f'{name} {table.num_rows:,}' for name, table in files.items())}", file=sys.stderr)


def side(way: str, folder: Path) -> None:
    """Read all tables in one way, and print the seconds."""
    began = time.process_time()
    read = from_files(folder) if way == "files" else from_parquet(folder)
    seconds = time.process_time() - began
    print(json.dumps({"cpu_s": seconds, "rows": sum(table.num_rows for table in read.values())}))


def measure(way: str, folder: Path) -> float:
    """Return the seconds of one side in a fresh process."""
    command = [sys.executable, "-m", "bench.overhead.tables", "--side", way, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout)["cpu_s"])


def _exported(results: Path, tables: Path) -> float:
    began = time.process_time()
    export_tables(TablesOptions(results=results, output=tables), Host({}))
    return time.process_time() - began


def compared(scratch: Path, results: int, runs: int, number_of_pairs: int) -> pairs.Ratio:
    """Make the results, export them once, and compare both ways to read them."""
    folder, tables = scratch / f"results-{runs}", scratch / f"tables-{runs}"
    for number in range(runs):
        reports.make(folder, results // runs, f"20260102T030405Z-{number:04x}")
    first_s, again_s = (_exported(folder, tables) for _ in range(2))
    print(f"  export: {first_s:.1f} s, again {again_s:.2f} s", file=sys.stderr)
    check(folder, tables)
    values = pairs.interleave(lambda: measure("parquet", tables), lambda: measure("files", folder), number_of_pairs)
    named = "one run" if runs == 1 else f"{runs:,} runs"
    return pairs.compare(
        f"CPU time of all tables of {results} results in {named}",
        "Parquet of `data export`",
        "the files",
        values,
        bar=BAR,
        unit="s",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--results", type=int, default=RESULTS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--side", choices=("files", "parquet"), help="read --folder once (for the benchmark itself)")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.side:
        side(arguments.side, arguments.folder)
        return
    with tempfile.TemporaryDirectory(prefix="bench-tables-") as scratch:
        pairs.emit([compared(Path(scratch), arguments.results, arguments.runs, arguments.pairs)])


if __name__ == "__main__":
    main()
