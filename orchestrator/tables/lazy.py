"""The tables of a results folder, each read when it is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import InputError
from orchestrator.tables.arrow import arrow_schema, library, record_batch
from orchestrator.tables.columns import TableSchema
from orchestrator.tables.reading import TABLES, read_batches
from orchestrator.tables.stored import OpenedRun, stored_runs


@dataclass(frozen=True)
class ResultTable:
    """One table over the runs of a results folder. Every call reads the files anew."""

    table: TableSchema
    stored: tuple[OpenedRun, ...]

    @property
    def name(self) -> str:
        """Return its name."""
        return self.table.name

    @property
    def schema(self) -> Any:
        """Return the `pyarrow.Schema`: names, types, and units and descriptions as metadata of the fields."""
        return arrow_schema(self.table)

    def batches(self) -> Any:
        """Return a `pyarrow.RecordBatchReader`, which never holds the whole table in memory.

        Example: `for batch in results("results").latencies.batches(): print(batch.num_rows)`
        """
        schema = self.schema
        return library("pyarrow").RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: Any) -> Iterator[Any]:
        return (record_batch(schema, rows) for _, rows in read_batches(self.stored, frozenset({self.name})))

    def to_arrow(self) -> Any:
        """Return the whole table as a `pyarrow.Table`.

        Example: `results("results").repeats.to_arrow().column("throughput")`
        """
        return self.batches().read_all()

    def to_pandas(self) -> Any:
        """Return the whole table as a `pandas.DataFrame`. Raises `InputError` without pandas.

        Example: `results("results").repeats.to_pandas().groupby("cell").throughput.median()`
        """
        library("pandas", "install it: pip install pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return the whole table as a `polars.DataFrame`. Raises `InputError` without Polars.

        Example: `results("results").repeats.to_polars().sort("throughput")`
        """
        return library("polars", "install it: pip install polars").from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table to any library that reads Arrow, such as DuckDB, without the whole of it in memory."""
        return self.batches().__arrow_c_stream__(requested_schema)


class ResultTables:
    """The runs of a results folder as tidy tables, of which nothing is read before it is asked for.

    Each table is an attribute: `runs`, `cells`, `outcomes`, `repeats`, `blocks`, `gpu_blocks`, `latencies`, `printed`,
    `telemetry`, `environments` and `parity`. `docs/data/columns.md` describes every column.
    """

    runs: ResultTable
    cells: ResultTable
    outcomes: ResultTable
    repeats: ResultTable
    blocks: ResultTable
    gpu_blocks: ResultTable
    latencies: ResultTable
    printed: ResultTable
    telemetry: ResultTable
    environments: ResultTable
    parity: ResultTable

    def __init__(self, stored: tuple[OpenedRun, ...]) -> None:
        for table in TABLES:
            setattr(self, table.name, ResultTable(table, stored))

    def __iter__(self) -> Iterator[ResultTable]:
        for table in TABLES:
            yield getattr(self, table.name)

    def __getitem__(self, name: str) -> ResultTable:
        """Return a table by its name. Raises `KeyError` if there is none."""
        if name not in {table.name for table in TABLES}:
            raise KeyError(name)
        table: ResultTable = getattr(self, name)
        return table


def result_tables(results: Path) -> ResultTables:
    """Return the tables of a results folder. Raises `InputError` if there is no such folder, or without pyarrow."""
    library("pyarrow")
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    return ResultTables(tuple(stored_runs(results)))
