"""The rows of a run, all tables in one pass, so that no file is read twice."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from orchestrator.domain import Outcome, Status
from orchestrator.tables.columns import TableSchema
from orchestrator.tables.rows.blocks import (
    BLOCKS,
    GPU_BLOCKS,
    LATENCIES,
    block_sources,
    gpu_block_sources,
    latency_rows,
)
from orchestrator.tables.rows.cells import CELLS, cell_sources
from orchestrator.tables.rows.environments import ENVIRONMENTS, environment_sources
from orchestrator.tables.rows.gpus import TELEMETRY, sample_sources
from orchestrator.tables.rows.outcomes import OUTCOMES, outcome_source
from orchestrator.tables.rows.parity import PARITY, parity_sources
from orchestrator.tables.rows.printed import PRINTED, printed_sources
from orchestrator.tables.rows.repeats import REPEATS, repeat_source, result_source
from orchestrator.tables.rows.runs import RUNS, run_sources
from orchestrator.tables.stored import OpenedRun

TABLES: tuple[TableSchema, ...] = (
    RUNS, CELLS, OUTCOMES, REPEATS, BLOCKS, GPU_BLOCKS, LATENCIES, PRINTED, TELEMETRY, ENVIRONMENTS, PARITY,
)  # fmt: skip
"""Every table, in the order of the documentation."""
NAMES = frozenset(table.name for table in TABLES)
BATCH_ROWS = 20_000
"""Rows of a table that are in memory as Python values at a time."""
Rows = tuple[str, list[tuple[Any, ...]]]
"""The name of a table, and some rows of it."""
_OF_RUNS = ((RUNS, run_sources), (CELLS, cell_sources), (ENVIRONMENTS, environment_sources), (PARITY, parity_sources))
_OF_RESULTS = (
    (BLOCKS, block_sources), (GPU_BLOCKS, gpu_block_sources), (PRINTED, printed_sources), (TELEMETRY, sample_sources),
)  # fmt: skip
_NEED_RESULTS = frozenset({"repeats", "latencies", *(table.name for table, _ in _OF_RESULTS)})


def read_batches(runs: Iterable[OpenedRun], wanted: frozenset[str]) -> Iterator[Rows]:
    """Yield the rows of the wanted tables of some runs in batches, those of each table in order.

    Only files that a wanted table needs are opened.
    """
    joined: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for stored in runs:
        for name, rows in _read_run(stored, wanted):
            joined[name].extend(rows)
            if len(joined[name]) >= BATCH_ROWS:
                yield name, joined.pop(name)
    yield from ((name, rows) for name, rows in joined.items() if rows)


def _read_run(stored: OpenedRun, wanted: frozenset[str]) -> Iterator[Rows]:
    for table, sources in _OF_RUNS:
        if table.name in wanted:
            yield table.name, [table.row(source) for source in sources(stored)]
    if wanted & ({"outcomes"} | _NEED_RESULTS):
        for outcome in stored.outcomes():
            yield from _of_outcome(stored, outcome, wanted)


def _of_outcome(stored: OpenedRun, outcome: Outcome, wanted: frozenset[str]) -> Iterator[Rows]:
    if "outcomes" in wanted:
        yield "outcomes", [OUTCOMES.row(outcome_source(stored.name, outcome))]
    if outcome.status is not Status.OK or not wanted & _NEED_RESULTS:
        return
    result = result_source(stored, outcome)
    if "repeats" in wanted:
        yield "repeats", [REPEATS.row(repeat_source(result, outcome))]
    if "latencies" in wanted:
        yield "latencies", list(latency_rows(result))
    for table, sources in _OF_RESULTS:
        if table.name in wanted:
            yield table.name, [table.row(source) for source in sources(result)]
